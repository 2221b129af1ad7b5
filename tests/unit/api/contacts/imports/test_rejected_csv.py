"""Downloads of rejected rows: their cells are written as they are stored."""

from collections.abc import AsyncIterator

from api.contacts.imports.reader.messages import RejectedRow
from api.contacts.imports.rejected_csv import rejected_csv


async def pages() -> AsyncIterator[list[RejectedRow]]:
    """Yield one page."""
    yield [RejectedRow(2, "city, too long", "12,'=1+1"), RejectedRow(7, "no cells", "")]


async def test_stored_cells_are_not_escaped_again() -> None:
    """That takes time for each download: they were escaped when the file was read."""
    chunks = [chunk async for chunk in await rejected_csv(pages(), ["Phone", "Mail"])]
    assert b"".join(chunks).decode().splitlines() == [
        "line,reason,Phone,Mail",
        '2,"city, too long",12,\'=1+1',
        "7,no cells,",
    ]
