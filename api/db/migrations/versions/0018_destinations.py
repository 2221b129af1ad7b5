"""Denied prefixes and allowed types of numbers of an account.

Accounts that exist keep what they may call; new ones may call no number until it is allowed.

Revision ID: 0018
Revises: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the columns."""
    for name in ("denied", "number_types"):
        op.add_column(
            "accounts", sa.Column(name, sa.JSON, nullable=False, server_default=sa.text("'[]'"))
        )
