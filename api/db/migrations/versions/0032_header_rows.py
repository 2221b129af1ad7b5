"""The row of a contact file that is its header.

Revision ID: 0032
Revises: 0031
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    """Add it; of the files until now it is the first row."""
    header_row = sa.Column("header_row", sa.Integer, nullable=False, server_default="1")
    op.add_column("contact_files", header_row)
