"""Fills tables quickly: drops the indexes and recreates them at the end."""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.db.database import Database

# As operators set it for large databases; the default is 128 MB on every machine.
AS_DEPLOYED = ("shared_buffers=4GB", "effective_cache_size=12GB", "random_page_cost=1.1")
Rows = Sequence[tuple[Any, ...]]


async def insert(connection: AsyncConnection, table: sa.Table, rows: Rows) -> None:
    """Insert rows that have all columns."""
    if connection.dialect.name == "sqlite":
        placeholders = ", ".join("?" * len(table.columns))
        await connection.exec_driver_sql(f"INSERT INTO {table.name} VALUES ({placeholders})", rows)  # noqa: S608 - our own table
        return
    raw = (await connection.get_raw_connection()).driver_connection
    assert raw is not None
    columns = [each.name for each in table.columns]
    await raw.copy_records_to_table(table.name, records=rows, columns=columns)


async def change_indexes(database: Database, tables: Iterable[sa.Table], operation: str) -> None:
    """Call `drop` or `create` on all indexes of the tables."""
    for table in tables:
        for index in table.indexes:
            async with database.writing() as connection:
                await connection.run_sync(getattr(index, operation))


async def finish(database: Database, tables: Iterable[sa.Table], count: int) -> None:
    """Set PostgreSQL sequences, and vacuum and analyze the tables."""
    if database.is_sqlite:
        return
    for table in tables:
        if table.autoincrement_column is not None:
            query = sa.text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :count)")
            async with database.writing() as connection:
                await connection.execute(query, {"name": table.name, "count": count})
        async with database.reading() as connection:
            await connection.execute(sa.text(f"VACUUM ANALYZE {table.name}"))
