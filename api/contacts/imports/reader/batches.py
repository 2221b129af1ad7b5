"""Contacts of a file, some thousand at a time, each number once in a batch."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from api.contacts.imports.reader.messages import (
    BATCH_ROWS,
    Batch,
    FileRow,
    ReadRequest,
    RejectedRow,
)
from api.contacts.imports.reader.open import open_rows
from api.contacts.imports.reader.row_parser import InvalidRow, ParsedContact, RowParser, cells_json
from api.contacts.search_keys import normalize


def batches(wanted: ReadRequest, most: int = BATCH_ROWS) -> Iterator[Batch]:
    """Read what has not been read yet; raises Unreadable."""
    persons = RowParser(wanted.headers, wanted.mappings, wanted.region)
    with open_rows(wanted.path, wanted.format) as (rows, _):
        next(islice(rows, wanted.skip, wanted.skip), None)
        next(rows, None)  # the header
        done = wanted.skip
        while True:
            batch = _batch(persons, islice(rows, most), done, updates=wanted.action == "update")
            if batch.rows == done:
                return
            done = batch.rows
            yield batch


def _batch(persons: RowParser, rows: Iterator[FileRow], done: int, *, updates: bool) -> Batch:
    found: dict[str, ParsedContact] = {}
    rejects: list[RejectedRow] = []
    doubles = 0
    for row in rows:
        done += 1
        try:
            person = persons.person(row)
        except InvalidRow as error:
            rejects.append(RejectedRow(row.line, str(error)[:256], cells_json(row)))
            continue
        earlier = found.setdefault(person.number, person)
        if earlier is not person:
            doubles += 1
            if updates:
                found[person.number] = earlier.updated(person)
    # In one order by everybody: two transactions could wait for each other for ever.
    return _columns([found[number] for number in sorted(found)], rejects, done, doubles)


def _columns(
    found: list[ParsedContact], rejects: list[RejectedRow], done: int, doubles: int
) -> Batch:
    return Batch(
        rows=done,
        doubles=doubles,
        rejects=rejects,
        phone_number=[each.number for each in found],
        f_name=[each.f_name for each in found],
        l_name=[each.l_name for each in found],
        email=[each.email for each in found],
        f_name_key=[_key(each.f_name) for each in found],
        l_name_key=[_key(each.l_name) for each in found],
        email_key=[_key(each.email) for each in found],
        fields=[_json(each.fields) for each in found],
    )


def _key(text: str | None) -> str | None:
    return normalize(text) if text else None


def _json(fields: dict[str, str]) -> str | None:
    return msgspec.json.encode(fields).decode() if fields else None
