"""Hints for SQLite's choice of an index."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from api.db.columns import NoIndex

COLUMN: sa.ColumnClause[int] = sa.column("marks")


def test_only_sqlite_gets_a_plus() -> None:
    """It excludes the column from index lookups; PostgreSQL sees the column itself."""
    query = sa.select(NoIndex(COLUMN) == 1)
    texts = [str(query.compile(dialect=each.dialect())) for each in (sqlite, postgresql)]
    assert [text.split()[1] for text in texts] == ["+marks", "marks"]
