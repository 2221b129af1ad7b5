"""Message templates."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "msgapp_templates",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", sa.String(512), nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("category", sa.String(64), nullable=False),
        sa.Column("sub_category", sa.String(64)),
        sa.Column("phone_number_id", sa.String(64), nullable=False),
        sa.Column("parameter_format", sa.String(16), nullable=False),
        sa.Column("platform_template_id", sa.String(64)),
        sa.Column("is_primary_device_delivery_only", sa.Boolean, nullable=False),
        sa.Column("components", sa.JSON, nullable=False),
        sa.Column("status", sa.Text),
        sa.Column("status_reason", sa.Text),
        sa.Column("status_ms", sa.BigInteger, nullable=False),
        sa.Column("status_s", sa.BigInteger, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
    )
    by_name = ["account_id", "name", "language"]
    op.create_index("msgapp_templates_by_name", "msgapp_templates", by_name, unique=True)
    by_time = ["account_id", "created_ms", "id"]
    op.create_index("msgapp_templates_by_time", "msgapp_templates", by_time)
    by_platform = ["platform_template_id", "account_id"]
    op.create_index("msgapp_templates_by_platform", "msgapp_templates", by_platform)
