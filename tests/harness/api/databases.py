"""Empty, migrated SQLite and PostgreSQL databases.

The migrations run once in a process: they take longer than most tests. Each test gets a copy of
their result, which no other test has changed.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import asyncpg
import sqlalchemy as sa
from sqlalchemy import text

from api.db.database import Database
from api.db.migrate import migrate
from tests.harness.servers.postgres import Postgres

SQLITE = "sqlite+aiosqlite:///"
EMPTY_SCHEMA = "DROP SCHEMA IF EXISTS public CASCADE;\nCREATE SCHEMA public;"
# Each change of a definition writes a new version of its row.
FINGERPRINT = """
SELECT md5(string_agg(version, ',' ORDER BY version)) FROM (
    SELECT concat('relation', oid, ' ', xmin, ' ', pg_relation_size(oid) > 2000000) AS version
        FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat('column', attrelid, ' ', attnum, ' ', a.xmin)
        FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat('default', oid, ' ', xmin) FROM pg_attrdef
    UNION ALL SELECT concat('constraint', oid, ' ', xmin) FROM pg_constraint
    UNION ALL SELECT concat('trigger', oid, ' ', xmin) FROM pg_trigger
    UNION ALL SELECT concat('function', oid, ' ', xmin)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT concat('migration', ' ', xmin) FROM public.alembic_version
) AS versions
"""
# A replica checks no foreign keys and runs no triggers, such as the one that keeps the audit trail.
DELETE_ROWS = """
DO $$
DECLARE relation record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR relation IN
        SELECT oid::regclass AS name, relkind FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
    LOOP
        IF relation.relkind = 'S' THEN
            PERFORM setval(relation.name, 1, false);
        ELSIF relation.relkind = 'r' AND pg_relation_size(relation.name) > 0 THEN
            EXECUTE format('DELETE FROM %s', relation.name);
        END IF;
    END LOOP;
END $$
"""


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


class MigratedPostgres:
    """A PostgreSQL database that each test gets migrated and without rows.

    To delete the rows of a test takes milliseconds. To create the tables again takes half a second,
    so that is done only after a test that changed them or wrote much.
    """

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        self._dump = ""
        self._fingerprint = ""

    async def empty(self) -> str:
        """Delete what the last test has left; return the URL."""
        self._dump = self._dump or await self._migrated()
        connection = await asyncpg.connect(**self._postgres.address)
        try:
            if self._fingerprint and await _fingerprint(connection) == self._fingerprint:
                await connection.execute(DELETE_ROWS)
            else:
                await connection.execute(f"{EMPTY_SCHEMA}\n{self._dump}")
                self._fingerprint = await _fingerprint(connection)
        finally:
            await connection.close()
        return self._postgres.url

    async def _migrated(self) -> str:
        """Migrate an empty database; return the statements that create its tables."""
        async with migrated_database(await empty_database(self._postgres)):
            lines = (await asyncio.to_thread(self._postgres.dump)).splitlines()
        # Others are commands of psql, such as \restrict.
        return "\n".join(each for each in lines if each[:1] != "\\" and "SCHEMA public" not in each)


async def _fingerprint(connection: asyncpg.Connection) -> str:
    """Return what changes with the definitions of the tables; nothing if a test left none."""
    try:
        return str(await connection.fetchval(FINGERPRINT))
    except (asyncpg.InvalidSchemaNameError, asyncpg.UndefinedTableError):
        return ""


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


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect what is sent to databases."""
    sent: list[str] = []

    def collect(*arguments: Any) -> None:
        sent.append(arguments[2])

    sa.event.listen(sa.Engine, "before_cursor_execute", collect)
    try:
        yield sent
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", collect)
