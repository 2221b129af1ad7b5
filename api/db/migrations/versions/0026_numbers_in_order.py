"""The numbers of an account in ascending order, for its list of numbers with their routes."""

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Replace the index by one that has the order, too."""
    op.create_index("numbers_by_account", "numbers", ["account_id", "number"])
    op.drop_index("ix_numbers_account_id", "numbers")
