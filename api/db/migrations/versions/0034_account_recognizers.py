"""The recognizers that an account may name.

Revision ID: 0034
Revises: 0033
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """Add the column: accounts that exist may name all."""
    op.add_column("accounts", sa.Column("recognizers", sa.JSON(none_as_null=True)))
