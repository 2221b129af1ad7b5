"""Numbers of the messaging platform."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "msgapp_numbers",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("business_name", sa.String(256), nullable=False),
        sa.Column("phone_number_id", sa.String(64), nullable=False),
        sa.Column("business_msgapp_number", sa.String(32), nullable=False),
        sa.Column("flowbuilder_id", sa.String(64)),
        sa.Column("verified", sa.Boolean, nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("via", sa.String(16)),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
    )
    by_phone = ["account_id", "phone_number_id"]
    op.create_index("msgapp_numbers_by_phone", "msgapp_numbers", by_phone, unique=True)
    op.create_index("msgapp_numbers_by_time", "msgapp_numbers", ["account_id", "created_ms", "id"])
