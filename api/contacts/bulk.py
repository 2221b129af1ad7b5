"""Batches of contacts written: thousands in a statement, each number once in a list."""

from itertools import repeat

import msgspec
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.files.shapes import Action, Batch

COLUMNS = (
    "phone_number",
    "f_name",
    "l_name",
    "email",
    "f_name_key",
    "l_name_key",
    "email_key",
    "fields",
)
_INTO = (
    f"INSERT INTO contacts ({', '.join(COLUMNS)},"
    " account_id, list_id, add_to_running_campaign, created_ms, updated_ms)"
)
_ARRAYS = ", ".join(f"${number}::text[]" for number, _ in enumerate(COLUMNS, 1))
_ROWS = {
    "sqlite": f"{_INTO} VALUES ({', '.join('?' * len(COLUMNS))}, ?, ?, FALSE, ?, ?)",
    "postgresql": f"{_INTO} SELECT *, $9::text, $10::bigint, FALSE, $11::bigint, $12::bigint"  # noqa: S608 - names of ours; what customers send is bound
    f" FROM unnest({_ARRAYS})",
}
_KEPT = ", ".join(f"{each} = coalesce(excluded.{each}, contacts.{each})" for each in COLUMNS[1:-1])
_MERGED = {
    "sqlite": "json_patch(contacts.fields, excluded.fields)",
    "postgresql": "CAST(CAST(contacts.fields AS jsonb) || CAST(excluded.fields AS jsonb) AS text)",
}
_KNOWN = {
    "sqlite": "SELECT count(*) FROM contacts WHERE list_id = ?"
    " AND phone_number IN (SELECT value FROM json_each(?))",
    "postgresql": "SELECT count(*) FROM contacts WHERE list_id = $1"
    " AND phone_number = ANY($2::text[])",
}


class Into(Struct, frozen=True):
    """Where contacts go, when, and what becomes of those that are there."""

    account_id: str
    list_id: int
    action: Action
    now_ms: int


async def write(connection: AsyncConnection, into: Into, batch: Batch) -> int:
    """Write a batch's contacts; returns how many of them are new."""
    if not batch.phone_number:
        return 0
    known = await _known(connection, into.list_id, batch.phone_number)
    dialect = connection.dialect.name
    sql = f"{_ROWS[dialect]} ON CONFLICT (list_id, phone_number) DO {_deed(into.action, dialect)}"
    columns = [getattr(batch, name) for name in COLUMNS]
    always = (into.account_id, into.list_id, into.now_ms, into.now_ms)
    if dialect == "sqlite":
        rows = list(zip(*columns, *map(repeat, always), strict=False))
        await connection.exec_driver_sql(sql, rows)
    else:
        await connection.exec_driver_sql(sql, (*columns, *always))
    return len(batch.phone_number) - known


async def _known(connection: AsyncConnection, list_id: int, numbers: list[str]) -> int:
    dialect = connection.dialect.name
    asked = msgspec.json.encode(numbers).decode() if dialect == "sqlite" else numbers
    found = await connection.exec_driver_sql(_KNOWN[dialect], (list_id, asked))
    return int(found.scalar_one())


def _deed(action: Action, dialect: str) -> str:
    """Say what happens to a contact that is there: an empty cell takes nothing away."""
    if action == "skip":
        return "NOTHING"
    merged = f"coalesce({_MERGED[dialect]}, excluded.fields, contacts.fields)"
    return f"UPDATE SET {_KEPT}, fields = {merged}, updated_ms = excluded.updated_ms"
