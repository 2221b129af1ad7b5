"""Writes a backup, and restores one to an empty database: all of it, or nothing."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import IO, Any

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.backup.records import (
    Cost,
    End,
    Header,
    InvalidBackup,
    Kind,
    Record,
    Rows,
    SettingsFile,
    TableColumn,
    TableStart,
)
from api.backup.sealing import COST, SealedWriter
from api.db.database import Database
from api.db.migrate import known_migrations, lock_migrations, migration_of, upgrade

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
# A backup may be older than the tables of this version: the types are those of its own columns.
_TYPES: Mapping[Kind, sa.types.TypeEngine[Any]] = {
    "json": sa.Text(),
    "boolean": sa.Boolean(),
    "integer": sa.BigInteger(),
    "float": sa.Float(),
    "text": sa.Text(),
    "bytes": sa.LargeBinary(),
}


class Contents(Struct, frozen=True):
    """What a backup has: the rows of each table, and its files of settings."""

    counts: Mapping[str, int]
    settings: tuple[SettingsFile, ...]


class BackupSource(Struct, frozen=True):
    """What to back up: tables in the order of their references, and files of settings."""

    database: Database
    tables: tuple[sa.Table, ...]
    settings: tuple[SettingsFile, ...]
    version: str


async def write_backup(
    source: BackupSource, file: IO[bytes], passphrase: str, created_time: str, cost: Cost = COST
) -> Contents:
    """Write a backup of one moment; raises InvalidBackup."""
    async with source.database.snapshot() as connection:
        migration = await connection.run_sync(_current_migration)
        writer = SealedWriter(
            file,
            passphrase,
            cost=cost,
            version=source.version,
            migration=migration,
            database=connection.dialect.name,
            created_time=created_time,
        )
        counts = {}
        for each in source.settings:
            writer.write(each)
        for table in source.tables:
            counts[str(table.name)] = 0
            async for record in dump_table(connection, table):
                writer.write(record)
                counts[str(table.name)] += len(record.rows) if isinstance(record, Rows) else 0
        writer.write(End(counts))
    return Contents(counts, source.settings)


def read_contents(records: Iterable[Record]) -> Contents:
    """Read a backup to its end, without a database; raises InvalidBackup."""
    settings: list[SettingsFile] = []
    counts: dict[str, int] = {}
    for record in records:
        match record:
            case SettingsFile():
                settings.append(record)
            case End(counts):
                pass
            case TableStart() | Rows():
                pass
    return Contents(counts, tuple(settings))


async def restore_backup(database: Database, header: Header, records: Iterator[Record]) -> Contents:
    """Restore a backup to an empty database, and migrate it; raises InvalidBackup."""
    async with database.writing() as connection:
        await lock_migrations(connection)
        await connection.run_sync(_prepare, header)
        contents = await _load(connection, records)
        await connection.run_sync(upgrade)
    return contents


async def _load(connection: AsyncConnection, records: Iterator[Record]) -> Contents:
    loader = TableLoader(connection)
    settings: list[SettingsFile] = []
    tables: list[TableStart] = []
    for record in records:
        match record:
            case SettingsFile():
                settings.append(record)
            case TableStart():
                tables.append(record)
                await loader.start(record)
            case Rows():
                await loader.add(record)
            case End(counts):
                if counts != loader.counts:
                    raise InvalidBackup("the file does not have the rows that it lists")
    await loader.finish(tables)
    return Contents(loader.counts, tuple(settings))


def _current_migration(connection: Connection) -> str:
    """Return the migration of a database; raises InvalidBackup for one of another version."""
    found, known = migration_of(connection), known_migrations()
    if found is None:
        raise InvalidBackup("the database is empty: there is nothing to back up")
    if found != known[0]:
        raise InvalidBackup(
            f"the database has migration {found}, and this version {known[0]}: use the version that"
            " the database belongs to, or run `switchroom api migrate` first"
        )
    return found


def _prepare(connection: Connection, header: Header) -> None:
    """Create the tables of the backup's version, unless they are there and empty."""
    if header.migration not in known_migrations():
        raise InvalidBackup(
            f"the backup is of another version, {header.version} (migration {header.migration}):"
            " restore it with that version or a later one"
        )
    found = migration_of(connection)
    if found is None and sa.inspect(connection).get_table_names():
        raise InvalidBackup("the database belongs to another program: an empty one is needed")
    if found not in {None, header.migration}:
        raise InvalidBackup(
            f"the database has migration {found}, and the backup {header.migration}:"
            " an empty database is needed"
        )
    for table in sa.inspect(connection).get_table_names():
        row = sa.select(sa.literal(1)).select_from(sa.table(table)).limit(1)
        if table != "alembic_version" and connection.execute(row).first():
            raise InvalidBackup(f"the database is not empty: {table} has rows")
    if found is None:
        upgrade(connection, header.migration)


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
