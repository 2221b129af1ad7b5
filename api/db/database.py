"""SQLite or PostgreSQL, with one context manager for reads and one for transactions.

Accounts take turns as readers and as writers, however many requests of one wait: the slow reads of
an account delay those of another by what has begun.

A transaction takes SQLite's only write lock when it begins, not at its first write: of two that
have read before, one could never continue
(https://sqlite.org/lang_transaction.html, "BEGIN IMMEDIATE").
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from random import randrange
from sqlite3 import DatabaseError
from sqlite3 import OperationalError as SqliteError
from typing import Annotated, Any

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from api.common.clock import Clock
from api.common.errors import ServiceUnavailable
from api.db.batch_size import BatchSize
from base.fair_slots import FairSlots
from base.limit import Limit

log = structlog.get_logger()
# The account whose request or job a task works for. Empty: the program itself. Of a task, so that
# not each of the statements has to name it.
work_of: ContextVar[str] = ContextVar("work_of", default="")
metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# INSERT with `on_conflict_…`, which each dialect has of its own.
INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
MAX_CONNECTIONS: Annotated[
    int,
    Limit(
        "process",
        "wait",
        "Reads of the database at once, and as many transactions (in SQLite one).",
    ),
] = 8
MAX_CONNECTIONS_OF_ACCOUNT: Annotated[
    int,
    Limit(
        "account",
        "wait",
        "Reads of the database of one process at once, and transactions; accounts take turns.",
    ),
] = 2
TURN_TIMEOUT_S = 30.0  # a server that does not answer holds up all turns
BUSY_TIMEOUT_MS = 5_000
# PostgreSQL's classes of transient errors (its manual, appendix A): connection, deadlock,
# resources, lock, operator intervention, system. For SQLAlchemy, asyncpg's errors of these classes
# are no OperationalError.
TRANSIENT_SQLSTATES = frozenset({"08", "40", "53", "55", "57", "58"})
MAX_WAL_ATTEMPTS = 100
CLOSE_TIMEOUT_S = 5.0
PRAGMAS = (
    "synchronous=NORMAL",  # with WAL: a power cut may lose the last commits, never the file
    "foreign_keys=ON",
    "temp_store=MEMORY",  # of each statement that fires a trigger: a file costs 20 µs
    f"busy_timeout={BUSY_TIMEOUT_MS}",
)


class DatabaseUnavailable(ServiceUnavailable):
    """The database cannot be reached, or is too busy."""

    code = "database_down"


class Database:
    """Connections to one database; `reading()` is in autocommit mode, `writing()` is atomic."""

    def __init__(self, url: str) -> None:
        self.is_sqlite = url.startswith("sqlite")
        self.insert: Callable[..., Any] = INSERTS["sqlite" if self.is_sqlite else "postgresql"]
        self._path = Path(url.partition(":///")[2]) if self.is_sqlite else None
        self._use = ConnectionUse()
        self._readers = FairSlots(MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ACCOUNT)
        # SQLite has one writer. It itself waits by sleeping, and in no order.
        writers = 1 if self.is_sqlite else MAX_CONNECTIONS
        self._writers = FairSlots(writers, MAX_CONNECTIONS_OF_ACCOUNT)
        self._engine = _engine(url, self.is_sqlite)
        # Switching a pooled connection to autocommit and back costs several round trips.
        self._reader = _engine(
            url, self.is_sqlite, isolation_level="AUTOCOMMIT", skip_autocommit_rollback=True
        )
        if self._path is not None:
            sa.event.listen(self._engine.sync_engine, "begin", _begin)
            for engine in (self._engine, self._reader):
                sa.event.listen(
                    engine.sync_engine, "do_connect", partial(_prepare_file, self._path)
                )

    @property
    def is_new(self) -> bool:
        """Whether SQLite has no file yet."""
        return self._path is not None and not self._path.exists()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection for statements that change nothing."""
        async with self._turn(self._readers), self._reader.connect() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection with a transaction, committed unless the context raises."""
        async with self._turn(self._writers), self._engine.connect() as connection:
            writer = await connection.execution_options(writes=True)
            async with writer.begin():
                yield writer

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        """Yield a connection that sees the database as it was at its first statement.

        Without a turn: a backup is a process of its own.
        """
        async with _mapped_errors(), self._engine.connect() as connection:
            with self._use.counted():
                options: dict[str, Any] = {"snapshot": True}
                if not self.is_sqlite:
                    options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
                reader = await connection.execution_options(**options)
                async with reader.begin():
                    yield reader

    @asynccontextmanager
    async def _turn(self, turns: FairSlots) -> AsyncIterator[None]:
        """Wait for the turn of the account that the task works for; map errors of the database."""
        async with _mapped_errors(), AsyncExitStack() as stack:
            stack.enter_context(self._use.counted())
            try:
                async with asyncio.timeout(TURN_TIMEOUT_S):
                    await stack.enter_async_context(turns.slot(work_of.get()))
            except TimeoutError:
                raise NoConnection("no connection was free in time") from None
            yield

    async def rows(self, query: sa.Executable) -> Sequence[Any]:
        """Return all rows of a query, as tuples."""
        async with self.reading() as connection:
            return (await connection.execute(query)).all()

    async def mappings(self, query: sa.Executable) -> Sequence[sa.RowMapping]:
        """Return all rows of a query, by the names of their columns."""
        async with self.reading() as connection:
            return (await connection.execute(query)).mappings().all()

    async def scalar(self, query: sa.Executable) -> Any:
        """Return the only value of a query; None if it has no row."""
        async with self.reading() as connection:
            return (await connection.execute(query)).scalar_one_or_none()

    async def page(
        self, query: sa.Select[Any], limit: int, offset: int
    ) -> tuple[Sequence[sa.RowMapping], int]:
        """Return a page of a query's rows, and the number of all its rows."""
        count = query.with_only_columns(sa.func.count(), maintain_column_froms=True).order_by(None)
        async with self.reading() as connection:
            rows = (await connection.execute(query.limit(limit).offset(offset))).mappings().all()
            return rows, int((await connection.execute(count)).scalar_one())

    async def execute(self, statement: sa.Executable) -> int:
        """Run a statement in a transaction of its own; return how many rows it changed."""
        async with self.writing() as connection:
            return (await connection.execute(statement)).rowcount

    async def delete(self, table: sa.Table, condition: sa.ColumnElement[bool]) -> int:
        """Delete rows in short transactions; return how many rows there were."""
        keys, count, batch = list(table.primary_key), 0, BatchSize()
        while True:
            rows = sa.select(*keys).where(condition).limit(batch.rows)
            async with self.writing() as connection:
                with batch.measured():
                    statement = sa.delete(table).where(sa.tuple_(*keys).in_(rows))
                    deleted = (await connection.execute(statement)).rowcount
            if not deleted:
                return count
            count += deleted

    async def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Close all connections; those in use get the time to be returned.

        A connection that is returned later is not closed, only collected as garbage: a cancelled
        task needs a few turns of the event loop until it has returned its connection.
        """
        try:
            if not await self._use.wait_until_unused(timeout_s):
                log.warning("database closed with connections in use", count=self._use.count)
        finally:
            await self._reader.dispose()
            await self._engine.dispose()


class Store:
    """Base of the stores: tables of a database, whose rows have times."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms


def _engine(url: str, is_sqlite: bool, **more: Any) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_pre_ping=not is_sqlite,  # a dropped connection is found before it is used
        pool_size=MAX_CONNECTIONS,
        max_overflow=0,  # turns admit no more than the pool has
        pool_use_lifo=True,  # the last connection has statements and pages cached
        hide_parameters=True,  # errors are logged, what customers sent is not
        **more,
    )
    if is_sqlite:
        sa.event.listen(engine.sync_engine, "connect", _set_pragmas)
    return engine


@asynccontextmanager
async def _mapped_errors() -> AsyncIterator[None]:
    try:
        yield
    except (DBAPIError, NoConnection, OSError) as error:
        if isinstance(error, DBAPIError) and not _is_transient(error):
            raise
        log.warning("database unavailable", error=str(error))
        raise DatabaseUnavailable("the database can't be used now", retry_after_s=1) from error


def _is_transient(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, OperationalError | InterfaceError) or state[:2] in TRANSIENT_SQLSTATES


def _prepare_file(path: Path, *_connection: Any) -> None:
    """Let only its owner read a new file: it has what customers sent, and digests of keys.

    A file that SQLite cannot open is found here, before aiosqlite starts a thread for it: its
    thread outlives a connection that failed, and writes a traceback when the loop has closed. A
    file that exists is not opened: to close it would end all locks of this process on it
    (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        if path.is_dir() or not os.access(path, os.R_OK | os.W_OK):
            raise SqliteError("unable to open database file: not a file of ours") from None
    except OSError as error:
        raise SqliteError(f"unable to open database file: {error.strerror}") from error


def _set_pragmas(connection: Any, _record: Any) -> None:
    try:
        cursor = connection.cursor()
        _enable_wal(cursor)
        for pragma in PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
    except DatabaseError as error:  # the file is another one; its thread must not outlive the loop
        connection.close()
        raise SqliteError(str(error)) from error


def _enable_wal(cursor: Any) -> None:
    """Turn on write-ahead logging, which needs an exclusive lock for a moment.

    If several connections do so at once, each holds a lock that the others wait for. So each one
    waits for a random time, releases its lock, and tries again.
    """
    for attempt in range(1, MAX_WAL_ATTEMPTS + 1):
        cursor.execute(f"PRAGMA busy_timeout={randrange(10, 100)}")  # noqa: S311 - no secret
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except SqliteError:
            if attempt == MAX_WAL_ATTEMPTS:
                raise
        else:
            return


def _begin(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    if options.get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif options.get("snapshot"):  # the driver itself begins none before a SELECT
        connection.exec_driver_sql("BEGIN")


class ConnectionUse:
    """The connections in use: one of each task, and a wait until none is.

    A task that holds a connection and waits for another one would wait for its account's turn, or
    for tasks that do the same; the transaction that it has begun would hold up all others.
    """

    def __init__(self) -> None:
        self._unused = asyncio.Event()
        self._unused.set()
        self._tasks: set[asyncio.Task[object] | None] = set()

    @property
    def count(self) -> int:
        """How many connections are in use, or waited for."""
        return len(self._tasks)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a connection for as long as the context lasts, from the wait for it to its return.

        Raises RuntimeError if the task has one: what needs both gets the connection as an argument.
        """
        task = asyncio.current_task()
        if task in self._tasks:
            raise RuntimeError("this task holds a connection, and asks for another one")
        self._tasks.add(task)
        self._unused.clear()
        try:
            yield
        finally:
            self._tasks.discard(task)
            if not self._tasks:
                self._unused.set()

    async def wait_until_unused(self, timeout_s: float) -> bool:
        """Wait until no connection is in use; return False after the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._unused.wait()
        except TimeoutError:
            return False
        return True
