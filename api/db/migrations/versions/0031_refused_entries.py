"""Entries of do-not-call lists that an engine refuses, with its reason.

Revision ID: 0031
Revises: 0030
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Add the reason; none is refused yet."""
    refusal = sa.Column("refusal", sa.String(200), nullable=False, server_default="")
    op.add_column("dnc_entries", refusal)
    refused = sa.text("refusal <> ''")
    op.create_index(
        "ix_dnc_entries_refused",
        "dnc_entries",
        ["account_id"],
        sqlite_where=refused,
        postgresql_where=refused,
    )
