"""The trunks over which an account calls.

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the column: accounts that exist use all trunks."""
    op.add_column(
        "accounts", sa.Column("trunks", sa.JSON, nullable=False, server_default=sa.text("'[]'"))
    )
