"""Reads the contacts of a file in batches, each number once in a batch."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from api.contacts.imports.reader.messages import (
    BATCH_CHARS,
    BATCH_ROWS,
    Batch,
    FileRow,
    ReadRequest,
    RejectedRow,
)
from api.contacts.imports.reader.open import open_rows
from api.contacts.imports.reader.row_parser import InvalidRow, ParsedContact, RowParser, cells_csv
from api.contacts.search_keys import normalize


def batches(request: ReadRequest, max_rows: int = BATCH_ROWS) -> Iterator[Batch]:
    """Yield the batches after the rows to skip; raises UnreadableFile."""
    parser = RowParser(request.headers, request.mappings, request.region)
    with open_rows(request.path, request.format) as (rows, _):
        next(islice(rows, request.skip, request.skip), None)
        if request.format.header_row:
            next(rows, None)
        done = request.skip
        while True:
            batch = _batch(parser, _next(rows, max_rows), done, merge=request.action == "update")
            if batch.rows == done:
                return
            done = batch.rows
            yield batch


def _next(rows: Iterator[FileRow], max_rows: int) -> Iterator[FileRow]:
    """Yield the rows of the next batch."""
    chars = 0
    for row in islice(rows, max_rows):
        yield row
        chars += sum(map(len, row.cells))
        if chars >= BATCH_CHARS:
            return


def _batch(parser: RowParser, rows: Iterator[FileRow], done: int, *, merge: bool) -> Batch:
    contacts: dict[str, ParsedContact] = {}
    rejects: list[RejectedRow] = []
    duplicates = 0
    for row in rows:
        done += 1
        try:
            contact = parser.parse(row)
        except InvalidRow as error:
            rejects.append(RejectedRow(row.line, str(error)[:256], cells_csv(row)))
            continue
        earlier = contacts.setdefault(contact.number, contact)
        if earlier is not contact:
            duplicates += 1
            if merge:
                contacts[contact.number] = earlier.merged_with(contact)
    # Sorted, so that two transactions lock rows in the same order and can't deadlock.
    ordered = [contacts[number] for number in sorted(contacts)]
    return _columns(ordered, rejects, done, duplicates)


def _columns(
    contacts: list[ParsedContact], rejects: list[RejectedRow], done: int, duplicates: int
) -> Batch:
    return Batch(
        rows=done,
        duplicates=duplicates,
        rejects=rejects,
        phone_number=[each.number for each in contacts],
        f_name=[each.f_name for each in contacts],
        l_name=[each.l_name for each in contacts],
        email=[each.email for each in contacts],
        f_name_key=[_key(each.f_name) for each in contacts],
        l_name_key=[_key(each.l_name) for each in contacts],
        email_key=[_key(each.email) for each in contacts],
        fields=[_json(each.fields) for each in contacts],
    )


def _key(text: str | None) -> str | None:
    return normalize(text) if text else None


def _json(fields: dict[str, str]) -> str | None:
    return msgspec.json.encode(fields).decode() if fields else None
