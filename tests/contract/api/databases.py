"""Databases of both kinds for tests: each empty, and in the newest shape."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import text

from api.db.database import Database
from api.db.migrate import migrate
from tests.harness.servers.postgres import Postgres


def sqlite_url(folder: Path) -> str:
    """Name a database in a folder."""
    return f"sqlite+aiosqlite:///{folder / 'switchroom.db'}"


async def emptied(postgres: Postgres) -> str:
    """Take everything out of a PostgreSQL; gives its address."""
    database = Database(postgres.url)
    async with database.writing() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
    await database.close()
    return postgres.url


@asynccontextmanager
async def migrated(url: str) -> AsyncIterator[Database]:
    """Open a database in the newest shape."""
    database = Database(url)
    try:
        await migrate(database)
        yield database
    finally:
        await database.close()
