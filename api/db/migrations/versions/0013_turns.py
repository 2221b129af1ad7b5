"""Accounts take turns with their background jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the column."""
    op.add_column("jobs", sa.Column("turn", sa.BigInteger, nullable=False, server_default="0"))
