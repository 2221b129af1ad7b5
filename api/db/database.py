"""The database: SQLite, or PostgreSQL, through one small door for reading and one for writing.

A writer takes SQLite's only write lock when it begins, not when it first writes: two that had read
before could never both go on (https://sqlite.org/lang_transaction.html, "BEGIN IMMEDIATE").
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import Connection, MetaData, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from api.common.errors import ServiceUnavailable

log = structlog.get_logger()
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# With `on_conflict_…`, which each has in its own dialect.
INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
BUSY_TIMEOUT_MS = 5_000
# PostgreSQL's classes of what passes (its manual, appendix A): connections that break, transactions
# rolled back as in a deadlock, no resources, no lock, who operates it, the machine. To SQLAlchemy,
# asyncpg's errors of these are no OperationalError.
TRANSIENT_SQLSTATES = frozenset({"08", "40", "53", "55", "57", "58"})
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",  # with WAL: a power cut may lose the last commits, never the file
    "foreign_keys=ON",
    f"busy_timeout={BUSY_TIMEOUT_MS}",
)


class DatabaseUnavailable(ServiceUnavailable):
    """The database can't be reached, or is too busy."""

    code = "database_down"


class Database:
    """Connections to one database; `reading()` sees each statement alone, `writing()` is atomic."""

    def __init__(self, url: str) -> None:
        self.is_sqlite = url.startswith("sqlite")
        self._path = Path(url.partition(":///")[2]) if self.is_sqlite else None
        self._writer = asyncio.Lock()  # SQLite's own waiting is by sleeps
        self._engine = _engine(url, self.is_sqlite)
        # A connection that is switched there and back takes its database several turns more.
        self._reader = _engine(
            url, self.is_sqlite, isolation_level="AUTOCOMMIT", skip_autocommit_rollback=True
        )
        if self.is_sqlite:
            event.listen(self._engine.sync_engine, "begin", _lock)

    @property
    def is_new(self) -> bool:
        """Whether SQLite has yet to make its file."""
        return self._path is not None and not self._path.exists()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection for statements that change nothing."""
        async with _known_faults(), self._reader.connect() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection for one transaction, committed when the context ends well."""
        async with _known_faults(), AsyncExitStack() as held:
            if self.is_sqlite:
                await held.enter_async_context(self._writer)
            connection = await held.enter_async_context(self._engine.connect())
            connection = await connection.execution_options(writes=True)
            async with connection.begin():
                yield connection

    async def close(self) -> None:
        """Close all connections."""
        await self._reader.dispose()
        await self._engine.dispose()


def _engine(url: str, is_sqlite: bool, **more: Any) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_pre_ping=not is_sqlite,  # a dropped connection is found before it is used
        pool_use_lifo=True,  # who was asked last remembers statements and pages
        hide_parameters=True,  # errors are logged, what customers sent is not
        **more,
    )
    if is_sqlite:
        event.listen(engine.sync_engine, "connect", _prepare)
    return engine


@asynccontextmanager
async def _known_faults() -> AsyncIterator[None]:
    try:
        yield
    except (DBAPIError, NoConnection, OSError) as error:
        if isinstance(error, DBAPIError) and not _passes(error):
            raise
        log.warning("database", error=str(error))
        raise DatabaseUnavailable("the database can't be used now", retry_after_s=1) from error


def _passes(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, OperationalError | InterfaceError) or state[:2] in TRANSIENT_SQLSTATES


def _prepare(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _lock(connection: Connection) -> None:
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
