"""Empty, migrated SQLite and PostgreSQL databases.

The migrations run once in a process: they take longer than most tests. Each test gets a copy of
their result, which no other test has changed.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import asyncpg
from sqlalchemy import text

from api.db.database import Database
from api.db.migrate import migrate
from tests.harness.servers.postgres import Postgres

SQLITE = "sqlite+aiosqlite:///"
EMPTY_SCHEMA = "DROP SCHEMA IF EXISTS public CASCADE;\nCREATE SCHEMA public;"


def sqlite_url(folder: Path) -> str:
    """Return the URL of a database in a folder."""
    return f"{SQLITE}{folder / 'switchroom.db'}"


def write_migrated(url: str) -> bool:
    """Write SQLite's migrated file; return False if there is a file, and for PostgreSQL."""
    path = Path(url.removeprefix(SQLITE))
    if not url.startswith(SQLITE) or path.exists():
        return False
    path.touch(mode=0o600)  # as the product does
    path.write_bytes(_migrated_file())
    return True


@cache
def _migrated_file() -> bytes:
    async def write(folder: Path) -> None:
        async with opened(sqlite_url(folder)) as database:
            await migrate(database)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(write(Path(folder)))
        return (Path(folder) / "switchroom.db").read_bytes()


async def empty_database(postgres: Postgres) -> str:
    """Empty a PostgreSQL database; return its URL."""
    async with opened(postgres.url) as database, database.writing() as connection:
        for statement in EMPTY_SCHEMA.splitlines():
            await connection.execute(text(statement))
    return postgres.url


async def dump_of_migrated(postgres: Postgres) -> str:
    """Migrate an empty PostgreSQL database; return the statements that `restore` runs."""
    async with migrated_database(await empty_database(postgres)):
        lines = (await asyncio.to_thread(postgres.dump)).splitlines()
    # Others are commands of psql, such as \restrict.
    return "\n".join(each for each in lines if each[:1] != "\\" and "SCHEMA public" not in each)


async def restore(postgres: Postgres, dump: str) -> str:
    """Replace all of a PostgreSQL database by a dump; return its URL."""
    connection = await asyncpg.connect(**postgres.address)
    try:
        await connection.execute(f"{EMPTY_SCHEMA}\n{dump}")
    finally:
        await connection.close()
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
        await migrate_new(database, url)
        yield database


async def migrate_new(database: Database, url: str) -> None:
    """Run the migrations that are pending, which is none for a new file of SQLite."""
    if not await asyncio.to_thread(write_migrated, url):
        await migrate(database)
