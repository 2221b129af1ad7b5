"""Batches of contacts written: thousands in a statement, each number once in a list.

What costs is an index that is written. So a row that says nothing new of a contact writes nothing.
PostgreSQL writes no index where no key is new (migration 0015). SQLite writes each of which a
column is set, also to what it was; so there keys are set by themselves, where they differ.
"""

from itertools import repeat

import msgspec
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.imports.reader.messages import Action, Batch

TEXT_COLUMNS = ("f_name", "l_name", "email")
KEY_COLUMNS = ("f_name_key", "l_name_key", "email_key")
COLUMNS = ("phone_number", *TEXT_COLUMNS, *KEY_COLUMNS, "fields")
_INTO = (
    f"INSERT INTO contacts ({', '.join(COLUMNS)},"
    " account_id, list_id, add_to_running_campaign, created_ms, updated_ms)"
)
_ONCE = "ON CONFLICT (list_id, phone_number) DO"
_SQLITE = f"{_INTO} VALUES ({', '.join('?' * len(COLUMNS))}, ?, ?, FALSE, ?, ?) {_ONCE}"
_ARRAYS = ", ".join(f"${number}::text[]" for number, _ in enumerate(COLUMNS, 1))
_POSTGRES = (
    f"{_INTO} SELECT *, $9::text, $10::bigint, FALSE, $11::bigint, $12::bigint"  # noqa: S608 - names of ours; what customers send is bound
    f" FROM unnest({_ARRAYS}) {_ONCE}"
)
_KNOWN = (
    "SELECT count(*) FROM contacts WHERE list_id = ?"
    " AND phone_number IN (SELECT value FROM json_each(?))"
)
_SET = ", ".join(f"{key} = coalesce(?{number}, {key})" for number, key in enumerate(KEY_COLUMNS, 1))
_DIFFER = " OR ".join(f"coalesce(?{n}, {key}) IS NOT {key}" for n, key in enumerate(KEY_COLUMNS, 1))
_REKEY = f"UPDATE contacts SET {_SET} WHERE list_id = ?4 AND phone_number = ?5 AND ({_DIFFER})"  # noqa: S608 - names of ours; the keys are bound


class UpsertTarget(Struct, frozen=True):
    """Where contacts go, when, and what becomes of those that are there."""

    account_id: str
    list_id: int
    action: Action
    now_ms: int


async def upsert_batch(connection: AsyncConnection, into: UpsertTarget, batch: Batch) -> int:
    """Write a batch's contacts; returns how many of them are new."""
    if not batch.phone_number:
        return 0
    if connection.dialect.name == "postgresql":
        return await _to_postgres(connection, into, batch)
    if into.action == "skip":
        return await _to_sqlite(connection, into, batch, "NOTHING")
    known = await _known(connection, into.list_id, batch.phone_number)
    merged = "json_patch(contacts.fields, excluded.fields)"
    has_fields = f"{merged} = contacts.fields"
    await _to_sqlite(connection, into, batch, _changed(TEXT_COLUMNS, merged, has_fields))
    keys = [getattr(batch, name) for name in KEY_COLUMNS]
    rows = list(zip(*keys, repeat(into.list_id), batch.phone_number, strict=False))
    await connection.exec_driver_sql(_REKEY, rows)
    return len(batch.phone_number) - known


async def _to_postgres(connection: AsyncConnection, into: UpsertTarget, batch: Batch) -> int:
    old, new = "CAST(contacts.fields AS jsonb)", "CAST(excluded.fields AS jsonb)"
    changed = _changed(
        (*TEXT_COLUMNS, *KEY_COLUMNS), f"CAST({old} || {new} AS text)", f"{old} @> {new}"
    )
    deed = "NOTHING" if into.action == "skip" else changed
    # A row that was there bears the mark of who changes it: this transaction.
    sql = (
        f"WITH written AS ({_POSTGRES} {deed} RETURNING xmax AS mark)"  # noqa: S608 - of the statements above
        " SELECT count(*) FROM written WHERE mark = 0"
    )
    columns = [getattr(batch, name) for name in COLUMNS]
    found = await connection.exec_driver_sql(sql, (*columns, *_always(into)))
    return int(found.scalar_one())


async def _to_sqlite(
    connection: AsyncConnection, into: UpsertTarget, batch: Batch, deed: str
) -> int:
    columns = [getattr(batch, name) for name in COLUMNS]
    rows = list(zip(*columns, *map(repeat, _always(into)), strict=False))
    written = await connection.exec_driver_sql(f"{_SQLITE} {deed}", rows)
    return int(written.rowcount)


def _always(into: UpsertTarget) -> tuple[str, int, int, int]:
    return into.account_id, into.list_id, into.now_ms, into.now_ms


async def _known(connection: AsyncConnection, list_id: int, numbers: list[str]) -> int:
    asked = msgspec.json.encode(numbers).decode()
    found = await connection.exec_driver_sql(_KNOWN, (list_id, asked))
    return int(found.scalar_one())


def _changed(columns: tuple[str, ...], merged: str, has_fields: str) -> str:
    """Say how a contact that is there is changed: an empty cell takes nothing away."""
    kept = ", ".join(f"{each} = coalesce(excluded.{each}, contacts.{each})" for each in columns)
    fields = f"coalesce({merged}, excluded.fields, contacts.fields)"
    same = " AND ".join(
        f"coalesce(excluded.{each} = contacts.{each}, excluded.{each} IS NULL)"
        for each in TEXT_COLUMNS
    )
    has = f"coalesce({has_fields}, excluded.fields IS NULL)"
    return (
        f"UPDATE SET {kept}, fields = {fields}, updated_ms = excluded.updated_ms"
        f" WHERE NOT ({same} AND {has})"
    )
