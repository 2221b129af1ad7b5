"""Writes the tables of a backup to an empty database, within one transaction."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.backup.records import InvalidBackup, Kind, Rows, TableStart

# A backup may be older than the tables of this version: the types are those of its own columns.
_TYPES: Mapping[Kind, sa.types.TypeEngine[Any]] = {
    "json": sa.Text(),
    "boolean": sa.Boolean(),
    "integer": sa.BigInteger(),
    "float": sa.Float(),
    "text": sa.Text(),
    "bytes": sa.LargeBinary(),
}


class TableLoader:
    """Inserts rows into the table that started last, and counts them."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.counts: dict[str, int] = {}
        self._connection = connection
        self._table = TableStart("", ())
        self._insert: sa.Insert = sa.insert(sa.table(""))

    async def start(self, table: TableStart) -> None:
        """Begin with a table: it continues with the number after its last one."""
        self._table, self.counts[table.name] = table, 0
        columns: list[sa.ColumnClause[Any]] = [sa.column(each.name) for each in table.columns]
        values = {each.name: self._value(each.name, each.kind) for each in table.columns}
        self._insert = sa.insert(sa.table(table.name, *columns)).values(values)

    async def add(self, batch: Rows) -> None:
        """Insert rows; raises InvalidBackup if the database refuses one."""
        names = [f"p_{each.name}" for each in self._table.columns]
        rows = [dict(zip(names, msgspec.msgpack.decode(each), strict=True)) for each in batch.rows]
        try:
            await self._connection.execute(self._insert, rows)
        except DBAPIError as error:
            raise InvalidBackup(f"{self._table.name}: the database refuses a row") from error
        self.counts[self._table.name] += len(rows)

    async def finish(self, tables: Iterable[TableStart]) -> None:
        """Let tables continue with the number after their last one, also a deleted row's."""
        for each in tables:
            if each.numbered_column is not None and each.last_number:
                await self._set_last_number(each, each.numbered_column)

    def _value(self, name: str, kind: Kind) -> sa.ColumnElement[Any]:
        value = sa.bindparam(f"p_{name}", type_=_TYPES[kind])
        is_sqlite = self._connection.dialect.name == "sqlite"
        return sa.cast(value, sa.JSON) if kind == "json" and not is_sqlite else value

    async def _set_last_number(self, table: TableStart, column: str) -> None:
        values = {"table": table.name, "column": column, "last": table.last_number}
        if self._connection.dialect.name == "sqlite":
            change = sa.text("UPDATE sqlite_sequence SET seq = :last WHERE name = :table")
            if not (await self._connection.execute(change, values)).rowcount:
                change = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)")
                await self._connection.execute(change, values)
            return
        change = sa.text("SELECT setval(pg_get_serial_sequence(:table, :column), :last)")
        await self._connection.execute(change, values)
