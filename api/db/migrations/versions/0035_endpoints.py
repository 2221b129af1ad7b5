"""The endpoints that operators have granted to accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "endpoints",
        sa.Column("endpoint", sa.String(80), primary_key=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("endpoints_by_account", "endpoints", ["account_id", "endpoint"])
