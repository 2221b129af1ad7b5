"""Rejected rows as CSV, to be mended and sent again; none of it is taken for a formula."""

import csv
import io
from collections.abc import AsyncIterator

import msgspec

from api.contacts.files.shapes import Reject
from api.formulas import neutralised


async def rejected_csv(
    pages: AsyncIterator[list[Reject]], headers: list[str]
) -> AsyncIterator[str]:
    """Write a line for each rejected row: its line in the file, why, and its cells."""
    yield _written([["line", "reason", *headers]])
    async for page in pages:
        yield _written([[each.line, each.reason, *_cells(each)] for each in page])


def _cells(reject: Reject) -> list[str]:
    return msgspec.json.decode(reject.cells, type=list[str])


def _written(rows: list[list[object]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([neutralised(cell) for cell in row] for row in rows)
    return out.getvalue()
