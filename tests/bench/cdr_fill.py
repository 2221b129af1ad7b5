"""Fills a database with call records, as quickly as it can: indexes come last."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cdrs.tables import agents, bodies, cdrs, numbers
from api.db import Database
from tests.bench.cdr_rows import Tables, chunks

TABLES = (cdrs, bodies, agents, numbers)


async def fill(database: Database, count: int) -> None:
    """Put that many records in."""
    await _indexes(database, "drop")
    for tables in chunks(count):
        async with database.writing() as connection:
            await _put(connection, tables, is_sqlite=database.is_sqlite)
    await _indexes(database, "create")
    async with database.writing() as connection:
        if not database.is_sqlite:  # SQLite numbers on by itself
            await connection.execute(
                sa.text("SELECT setval(pg_get_serial_sequence('cdrs', 'id'), :count)"),
                {"count": count},
            )
    await _settled(database)


async def _put(connection: AsyncConnection, tables: Tables, *, is_sqlite: bool) -> None:
    for table in TABLES:
        rows = tables[table.name]
        if is_sqlite:
            marks = ", ".join("?" * len(table.columns))
            insert = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608 - our own table
            await connection.exec_driver_sql(insert, rows)
        else:
            raw = (await connection.get_raw_connection()).driver_connection
            assert raw is not None
            copy = raw.copy_records_to_table
            await copy(table.name, records=rows, columns=[each.name for each in table.columns])


async def _indexes(database: Database, deed: str) -> None:
    for table in TABLES:
        for index in table.indexes:
            async with database.writing() as connection:
                await connection.run_sync(getattr(index, deed))


async def _settled(database: Database) -> None:
    """Let PostgreSQL note what it has, as its autovacuum does in time."""
    if database.is_sqlite:
        return
    for table in TABLES:
        async with database.reading() as connection:
            await connection.execute(sa.text(f"VACUUM ANALYZE {table.name}"))
