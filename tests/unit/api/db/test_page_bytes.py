"""The size of a page is measured without the memory of its rows."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.db.page_bytes import MAX_PAGE_BYTES, fits_page, sized_page, text_size

ROWS, ROW_CHARS = 100, 1_000_000
HEAP_BYTES = 20_000_000  # a fifth of the rows
table = sa.table("rows", sa.column("id"), sa.column("text", sa.Text))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Provide a database with large rows; SQLite may have little memory for them."""
    connection = sqlite3.connect(tmp_path / "rows.db")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
    rows = ((each, "x" * ROW_CHARS) for each in range(ROWS))
    connection.executemany("INSERT INTO rows VALUES (?, ?)", rows)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES}")
    yield connection
    connection.execute("PRAGMA hard_heap_limit = 0")  # it is the limit of the process
    connection.close()


def test_rows_need_no_memory(database: sqlite3.Connection) -> None:
    """Also those behind the page, which are measured."""
    found = sa.select(table.c.id).order_by(table.c.id).limit(ROWS).subquery()
    rows = found.join(table, table.c.id == found.c.id)
    sized = sized_page(found, rows, text_size(table.c.text), lambda page: [page.c.id])
    query = sa.select(sized.c.id, sized.c.page_rows).where(fits_page(sized))
    text = str(query.compile(compile_kwargs={"literal_binds": True}))
    expected = [(each, ROWS) for each in range(MAX_PAGE_BYTES // ROW_CHARS + 1)]
    assert database.execute(text).fetchall() == expected
