"""Empty, migrated SQLite and PostgreSQL databases."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import text

from api.db.database import Database
from api.db.migrate import migrate
from tests.harness.servers.postgres import Postgres


def sqlite_url(folder: Path) -> str:
    """Return the URL of a database in a folder."""
    return f"sqlite+aiosqlite:///{folder / 'switchroom.db'}"


async def empty_database(postgres: Postgres) -> str:
    """Empty a PostgreSQL database; return its URL."""
    async with opened(postgres.url) as database, database.writing() as connection:
        await connection.execute(text("DROP SCHEMA public CASCADE"))
        await connection.execute(text("CREATE SCHEMA public"))
    return postgres.url


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """Open a database as it is."""
    database = Database(url)
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def migrated_database(url: str) -> AsyncIterator[Database]:
    """Open a migrated database."""
    async with opened(url) as database:
        await migrate(database)
        yield database
