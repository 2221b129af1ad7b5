"""Accounts, their keys and numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("max_calls", sa.Integer),
        sa.Column("max_calls_per_s", sa.Float),
        sa.Column("destinations", sa.JSON),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("agent_id", sa.String(64)),
        sa.Column("key_hash", sa.String(256), nullable=False),
        sa.Column("secret_hash", sa.String(256), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_ms", sa.BigInteger),
    )
    op.create_table(
        "numbers",
        sa.Column("number", sa.String(32), primary_key=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_api_keys_account_id", "api_keys", ["account_id"])
    op.create_index("ix_numbers_account_id", "numbers", ["account_id"])
