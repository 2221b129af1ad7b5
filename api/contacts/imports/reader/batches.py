"""Contacts of a file, some thousand at a time, each number once in a batch."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from api.contacts.imports.reader.messages import BATCH_ROWS, Batch, Reject, Row, Wanted
from api.contacts.imports.reader.open import rows_of
from api.contacts.imports.reader.row_parser import NoContact, Person, Persons, shown
from api.contacts.search_keys import folded


def batches(wanted: Wanted, most: int = BATCH_ROWS) -> Iterator[Batch]:
    """Read what has not been read yet; raises Unreadable."""
    persons = Persons(wanted.headers, wanted.mappings, wanted.region)
    with rows_of(wanted.path, wanted.format) as (rows, _):
        next(islice(rows, wanted.skip, wanted.skip), None)
        next(rows, None)  # the header
        done = wanted.skip
        while True:
            batch = _batch(persons, islice(rows, most), done, updates=wanted.action == "update")
            if batch.rows == done:
                return
            done = batch.rows
            yield batch


def _batch(persons: Persons, rows: Iterator[Row], done: int, *, updates: bool) -> Batch:
    found: dict[str, Person] = {}
    rejects: list[Reject] = []
    doubles = 0
    for row in rows:
        done += 1
        try:
            person = persons.person(row)
        except NoContact as error:
            rejects.append(Reject(row.line, str(error)[:256], shown(row)))
            continue
        earlier = found.setdefault(person.number, person)
        if earlier is not person:
            doubles += 1
            if updates:
                found[person.number] = earlier.updated(person)
    # In one order by everybody: two transactions could wait for each other for ever.
    return _columns([found[number] for number in sorted(found)], rejects, done, doubles)


def _columns(found: list[Person], rejects: list[Reject], done: int, doubles: int) -> Batch:
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
    return folded(text) if text else None


def _json(fields: dict[str, str]) -> str | None:
    return msgspec.json.encode(fields).decode() if fields else None
