"""What a list shows of an API request.

Revision ID: 0038
Revises: 0037
"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Add the column; it is filled with the token secrets, as documents are encrypted again."""
    op.add_column("documents", sa.Column("summary", sa.LargeBinary))
