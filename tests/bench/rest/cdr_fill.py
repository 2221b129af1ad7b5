"""Fills a database with call records, as quickly as it can."""

from api.cdrs.tables import agents, bodies, cdrs, numbers
from api.db.database import Database
from tests.bench.rest.bulk_insert import indexes, put, settled
from tests.bench.rest.cdr_rows import chunks

TABLES = (cdrs, bodies, agents, numbers)


async def fill(database: Database, count: int) -> None:
    """Put that many records in."""
    await indexes(database, TABLES, "drop")
    for rows in chunks(count):
        async with database.writing() as connection:
            for table in TABLES:
                await put(connection, table, rows[table.name])
    await indexes(database, TABLES, "create")
    await settled(database, TABLES, count)
