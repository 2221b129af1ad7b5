"""An index of do-not-call entries by whether they are active."""

from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    columns = ["account_id", "is_active", "number", "provider"]
    op.create_index("ix_dnc_entries_is_active", "dnc_entries", columns)
