"""Files of contacts; where an account's e-mail goes."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table and the column."""
    op.add_column("accounts", sa.Column("email", sa.String(254)))
    op.create_table(
        "contact_downloads",
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id"), primary_key=True),
        sa.Column("list_id", KEY, sa.ForeignKey("contact_lists.id"), nullable=False),
    )
    op.create_index("ix_contact_downloads_list_id", "contact_downloads", ["list_id"])
