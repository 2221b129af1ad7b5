"""Fills a database with call records."""

from api.cdrs.tables import agents, bodies, cdrs, numbers
from api.db.database import Database
from tools.bench.rest.bulk_insert import change_indexes, finish, insert
from tools.bench.rest.cdr_rows import chunks

TABLES = (cdrs, bodies, agents, numbers)


async def fill(database: Database, count: int) -> None:
    """Insert `count` records."""
    await change_indexes(database, TABLES, "drop")
    for rows in chunks(count):
        async with database.writing() as connection:
            for table in TABLES:
                await insert(connection, table, rows[table.name])
    await change_indexes(database, TABLES, "create")
    await finish(database, TABLES, count)
