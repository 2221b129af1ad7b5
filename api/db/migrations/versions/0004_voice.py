"""Paces of calls, and answers by idempotency key."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "call_paces",
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), primary_key=True),
        sa.Column("next_us", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "idempotency",
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), primary_key=True),
        sa.Column("key", sa.String(128), primary_key=True),
        sa.Column("asked", sa.LargeBinary, nullable=False),
        sa.Column("answer", sa.LargeBinary),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_idempotency_since_ms", "idempotency", ["since_ms"])
