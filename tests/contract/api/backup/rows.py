"""Rows of all tables, and backups of them."""

import io
from typing import Any

import sqlalchemy as sa

import api.app  # noqa: F401 - with all tables
from api.backup.sealing import read_header, read_records
from api.backup.service import BackupSource, Contents, kind_of, restore_backup, write_backup
from api.db.database import Database, metadata

PASSPHRASE = "correct horse battery"  # noqa: S105 - of tests
COST = 10  # a 128th of that of a backup by command
ROWS = 3
TABLES = tuple(metadata.sorted_tables)
_JSON: tuple[Any, ...] = ({"name": "Åse", "list": [1, None, 2.5]}, sa.JSON.NULL, [])


async def fill(database: Database) -> None:
    """Insert some rows into every table; empty values are among them where they may be."""
    async with database.writing() as connection:
        for table in TABLES:
            for place in range(ROWS):
                row = {each.key: _value(each, place) for each in table.columns}
                await connection.execute(sa.insert(table).values(row))


async def rows_of(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables, JSON as its text."""
    found = {}
    for table in TABLES:
        columns = [
            sa.cast(each, sa.Text) if kind_of(each) == "json" else each for each in table.columns
        ]
        query = sa.select(*columns).order_by(*table.primary_key.columns)
        found[table.name] = [tuple(row) for row in await database.rows(query)]
    return found


async def backed_up(database: Database) -> bytes:
    """Return a backup of a database."""
    file = io.BytesIO()
    source = BackupSource(database, TABLES, (), "0.1.0")
    await write_backup(source, file, PASSPHRASE, "2026-11-26T12:00:00.000Z", COST)
    return file.getvalue()


async def restored(database: Database, content: bytes, passphrase: str = PASSPHRASE) -> Contents:
    """Restore a backup to a database."""
    file = io.BytesIO(content)
    header = read_header(file)
    return await restore_backup(database, header, read_records(file, header, passphrase))


async def tables_of(database: Database) -> list[str]:
    """Return the names of a database's tables."""
    async with database.reading() as connection:
        return await connection.run_sync(lambda it: sa.inspect(it).get_table_names())


def _value(column: sa.Column[Any], place: int) -> Any:
    for key in column.foreign_keys:
        return _value(key.column, place)
    if column.nullable and place == 1:
        return sa.null()
    match kind_of(column):
        case "json":
            return _JSON[place]
        case "boolean":
            return place == 0
        case "integer":
            return (place + 1) * 7 if column.primary_key else place - 1
        case "float":
            return place + 0.1
        case "bytes":
            return bytes([0, 255, place])
        case "text":
            length = getattr(column.type, "length", None) or 64
            return f"{place}ø{column.name}"[:length]
