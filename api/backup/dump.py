"""Reads all tables of a database, as they are at one moment."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.backup.records import Kind, Record, Rows, TableColumn, TableStart

BATCH_BYTES = 1 << 20
FETCHED_ROWS = 1_000
_KINDS: tuple[tuple[type[sa.types.TypeEngine[Any]], Kind], ...] = (
    (sa.JSON, "json"),
    (sa.Boolean, "boolean"),
    (sa.Integer, "integer"),
    (sa.Float, "float"),
    (sa.String, "text"),
    (sa.LargeBinary, "bytes"),
)


async def dump_table(connection: AsyncConnection, table: sa.Table) -> AsyncIterator[Record]:
    """Yield a table and its rows, in batches."""
    columns = tuple(TableColumn(str(each.name), kind_of(each)) for each in table.columns)
    numbered = table.autoincrement_column
    if numbered is None:
        yield TableStart(str(table.name), columns)
    else:
        last = await _last_number(connection, table, numbered)
        yield TableStart(str(table.name), columns, str(numbered.name), last)
    # JSON as its text: only so are a JSON null and an SQL NULL two values.
    read = [sa.cast(c, sa.Text) if kind_of(c) == "json" else c for c in table.columns]
    found = await connection.stream(sa.select(*read), execution_options={"yield_per": FETCHED_ROWS})
    batch: list[msgspec.Raw] = []
    size = 0
    async for row in found:
        encoded = msgspec.msgpack.encode(tuple(row))
        batch.append(msgspec.Raw(encoded))
        size += len(encoded)
        if size >= BATCH_BYTES:
            yield Rows(tuple(batch))
            batch, size = [], 0
    if batch:
        yield Rows(tuple(batch))


def kind_of(column: sa.Column[Any]) -> Kind:
    """Return what the values of a column are; raises LookupError."""
    for base, kind in _KINDS:
        if isinstance(column.type, base):
            return kind
    raise LookupError(f"{column.table.name}.{column.name}: a type that no backup has")


async def _last_number(connection: AsyncConnection, table: sa.Table, column: sa.Column[Any]) -> int:
    """Return the last number that was used, also by a row that is deleted."""
    highest = sa.select(sa.func.coalesce(sa.func.max(column), 0))
    found = int((await connection.execute(highest)).scalar_one())
    if connection.dialect.name == "sqlite":
        query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table")
        used = (await connection.execute(query, {"table": table.name})).scalar_one_or_none()
        return max(found, int(used or 0))
    name = sa.select(sa.func.pg_get_serial_sequence(table.name, column.name))
    sequence = (await connection.execute(name)).scalar_one_or_none()
    if sequence is None:
        return found
    query = sa.text(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608 - quoted by PostgreSQL
    value, is_called = (await connection.execute(query)).one()
    return max(found, int(value) if is_called else 0)
