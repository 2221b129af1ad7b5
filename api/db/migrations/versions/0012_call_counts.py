"""Live calls of accounts, counted for all processes together."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "call_counts",
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), primary_key=True),
        sa.Column("live", sa.Integer, nullable=False),
        sa.Column("until_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "calls_asked_for",
        sa.Column("id", KEY, primary_key=True, autoincrement=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("until_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_calls_asked_for_account_id", "calls_asked_for", ["account_id"])
