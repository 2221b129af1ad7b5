"""Writes a backup, and restores one to an empty database: all of it, or nothing."""

from collections.abc import Iterable, Iterator, Mapping
from typing import IO

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from api.backup.records import (
    Cost,
    End,
    Header,
    InvalidBackup,
    Record,
    Rows,
    SettingsFile,
    TableStart,
)
from api.backup.sealing import COST, SealedWriter
from api.backup.table_rows import TableLoader, dump_table
from api.db.database import Database
from api.db.migrate import known_migrations, lock_migrations, migration_of, upgrade


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
