"""SQLite and PostgreSQL: schema, transactions, errors."""

import asyncio
import secrets
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from msgspec.structs import replace
from sqlalchemy import Connection, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import Account, AccountStore, accounts
from api.audit.trail import entries
from api.common.clock import now_ms
from api.common.errors import Conflict, NotFound
from api.db.database import (
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_OF_ACCOUNT,
    Database,
    DatabaseUnavailable,
    metadata,
    work_of,
)
from api.db.migrate import LaterDatabase, migrate
from tests.harness.api.databases import (
    MigratedPostgres,
    empty_database,
    migrated_database,
    opened,
    sqlite_url,
)
from tests.harness.servers.postgres import Postgres
from tests.harness.until import until

ENTRY = {"at_ms": 1} | dict.fromkeys(
    ("actor", "address", "action", "object", "outcome", "request_id"), ""
)


async def test_many_processes_may_start_at_once(empty_url: str) -> None:
    """The migrations run once."""
    async with AsyncExitStack() as stack:
        several = [await stack.enter_async_context(opened(empty_url)) for _ in range(8)]
        await asyncio.gather(*map(migrate, several))
        await AccountStore(several[0], now_ms).add(Account("acme", "Acme"))
        assert [each.id for each in await AccountStore(several[2], now_ms).all()] == ["acme"]


def modes(folder: Path) -> set[int]:
    """Return the permissions of a folder's files."""
    return {each.stat().st_mode & 0o777 for each in folder.iterdir()}


async def test_a_new_file_is_its_owners_only(tmp_path: Path) -> None:
    """It has what customers sent, and digests of keys; so have the files beside it."""
    async with migrated_database(sqlite_url(tmp_path)) as database:
        await AccountStore(database, now_ms).add(Account("acme", "Acme"))
        assert modes(tmp_path) == {0o600}


COMMAND = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    connection.execute("UPDATE accounts SET name = ?", [sys.argv[2]])
connection.close()
"""


async def test_a_new_connection_keeps_the_locks_of_the_others(tmp_path: Path) -> None:
    """A file that a process closes loses all its locks: a command would then take the log away.

    https://sqlite.org/howtocorrupt.html, 2.2
    """
    async with migrated_database(sqlite_url(tmp_path)) as database:
        store = AccountStore(database, now_ms)
        await store.add(Account("acme", "Acme"))
        await asyncio.gather(*(database.scalar(text("SELECT 1")) for _ in range(2)))
        for name in ("first", "second"):
            command = (sys.executable, "-c", COMMAND, str(tmp_path / "switchroom.db"), name)
            program = await asyncio.create_subprocess_exec(*command)
            assert await program.wait() == 0
            assert (await store.get("acme")).name == name
            await store.set_active("acme", False)


async def test_a_database_of_a_later_version_is_refused(database: Database) -> None:
    """The error names both migrations, and nothing was changed: there are no downgrades."""
    later = text("UPDATE alembic_version SET version_num = '9999'")
    await database.execute(later)
    with pytest.raises(LaterDatabase, match=r"migration 9999, of a later version.* up to 0001"):
        await migrate(database)
    assert await database.scalar(text("SELECT version_num FROM alembic_version")) == "9999"


async def test_an_unknown_account(database: Database) -> None:
    """It is an error that names it, whether it is read or changed."""
    store = AccountStore(database, now_ms)
    with pytest.raises(NotFound, match="no account unknown"):
        await store.get("unknown")
    with pytest.raises(NotFound, match="no account unknown"):
        await store.change(Account("unknown", "Unknown"))
    with pytest.raises(NotFound, match="no account unknown"):
        await store.set_active("unknown", False)


async def test_changes_at_the_same_time_do_not_undo_each_other(database: Database) -> None:
    """A change that read the account before it was stopped does not start it again."""
    store = AccountStore(database, now_ms)
    await store.add(Account("acme", "Acme"))
    read = await store.get("acme")
    await store.set_active("acme", False)
    await store.change(replace(read, region="NO"), read)
    await store.change(replace(read, trunks=("backup",)), read)
    await store.change(read, read)
    assert await store.get("acme") == replace(
        read, is_active=False, region="NO", trunks=("backup",)
    )


async def test_a_stopped_account_is_changed(database: Database) -> None:
    """A change that writes every column leaves it stopped, too."""
    store = AccountStore(database, now_ms)
    await store.add(Account("acme", "Acme"))
    await store.set_active("acme", False)
    await store.change(Account("acme", "Acme", region="NO"))
    assert await store.get("acme") == Account("acme", "Acme", is_active=False, region="NO")


async def test_the_schema_matches_the_code(database: Database) -> None:
    """The migrated schema has the tables, columns and indexes of the code, and no others."""

    def compare(connection: Connection) -> Any:
        options = {"include_object": lambda *found: found[2] != "unique_constraint"}  # by name only
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with database.reading() as connection:
        assert await connection.run_sync(compare) == []


async def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    """An exception rolls a transaction back."""

    async def half() -> None:
        async with database.writing() as connection:
            await _add(connection, "acme")
            raise Conflict

    with pytest.raises(Conflict):
        await half()
    assert await AccountStore(database, now_ms).all() == []


async def test_many_writers_wait_for_each_other(database_url: str) -> None:
    """Processes that read before they write lose no update."""

    async def count(database: Database) -> None:
        async with database.writing() as connection:
            found = await connection.execute(select(func.count()).select_from(accounts))
            await _add(connection, f"{secrets.token_hex(4)}-{found.scalar_one()}")

    async with migrated_database(database_url) as first, opened(database_url) as second:
        await asyncio.gather(*(count(each) for each in (first, second) * 10))
        assert len(await AccountStore(first, now_ms).all()) == 20


async def test_an_unreachable_database_raises_database_unavailable() -> None:
    """The error does not name the driver."""
    async with opened("postgresql+asyncpg://nobody@127.0.0.1:1/none") as away:
        with pytest.raises(DatabaseUnavailable):
            await AccountStore(away, now_ms).all()


@pytest.mark.parametrize("action", ["pg_terminate_backend", "pg_cancel_backend"])
async def test_an_aborted_statement_raises_database_unavailable(
    postgres: Postgres, action: str
) -> None:
    """The next statement after a restart works again."""

    async def requested(database: Database, statement: str) -> object:
        async with database.reading() as connection:
            return (await connection.execute(text(statement))).scalar_one()

    async with opened(postgres.url) as database:
        with pytest.raises(DatabaseUnavailable):
            await requested(database, f"SELECT {action}(pg_backend_pid())")
        assert await requested(database, "SELECT 7") == 7


async def test_a_deadlock_raises_database_unavailable(postgres: Postgres) -> None:
    """PostgreSQL rolls one transaction back, so its client may retry."""
    both_hold_one = asyncio.Barrier(2)

    async def renamed(database: Database, *names: str) -> None:
        async with database.writing() as connection:
            for name in names:
                await connection.execute(
                    update(accounts).where(accounts.c.id == name).values(name="")
                )
                if name == names[0]:
                    await both_hold_one.wait()

    async with migrated_database(await empty_database(postgres)) as database:
        async with database.writing() as connection:
            for name in ("acme", "other"):
                await _add(connection, name)
        outcomes = await asyncio.gather(
            renamed(database, "acme", "other"),
            renamed(database, "other", "acme"),
            return_exceptions=True,
        )
    assert {type(each) for each in outcomes} == {DatabaseUnavailable, type(None)}
    (down,) = filter(None, outcomes)
    assert "acme" not in str(down.__cause__)  # the log must not have written values


async def _add(connection: AsyncConnection, name: str) -> None:
    row = {"id": name, "name": name, "is_active": True, "created_ms": 0}
    lists: dict[str, list[str]] = {each: [] for each in ("denied", "number_types", "trunks")}
    await connection.execute(insert(accounts).values(row | lists))


@pytest.mark.parametrize("change", ["SELECT 1", "ALTER TABLE accounts DROP COLUMN name"])
async def test_nothing_of_a_test_is_left_in_postgresql(
    migrated_postgres: MigratedPostgres, change: str
) -> None:
    """Neither rows nor numbers of ids, nor a change of a table."""
    for _ in range(2):
        async with migrated_database(await migrated_postgres.empty()) as database:
            store = AccountStore(database, now_ms)
            assert await store.all() == []
            await store.add(Account("acme", "Acme"))
            async with database.writing() as connection:
                added = insert(entries).values(ENTRY).returning(entries.c.id)
                assert (await connection.execute(added)).scalar_one() == 1
                await connection.execute(text(change))


async def test_the_queue_of_an_accounts_reads_delays_no_other(database: Database) -> None:
    """It has few connections, however slow its reads are: another's is served at once."""
    order, end = list[str](), asyncio.Event()

    async def read(name: str) -> None:
        work_of.set(name[0])
        async with database.reading() as connection:
            await connection.execute(text("SELECT 1"))
            order.append(name)
            await end.wait()

    first = [f"a{number}" for number in range(MAX_CONNECTIONS + 1)]
    async with asyncio.TaskGroup() as tasks:
        for name in (*first, "b1"):
            tasks.create_task(read(name))
            await asyncio.sleep(0)
        await until(lambda: "b1" in order, what="the read of the other account")
        assert set(order) <= {*first[:MAX_CONNECTIONS_OF_ACCOUNT], "b1"}
        end.set()
    assert len(order) == len(first) + 1


@pytest.mark.parametrize("use", ["reading", "writing"])
async def test_accounts_take_turns(database: Database, use: str) -> None:
    """While all connections are in use, what waits of an account delays another's by one."""
    places = 1 if use == "writing" and database.is_sqlite else MAX_CONNECTIONS
    order, held = list[str](), list[str]()
    ends = {f"other {number}": asyncio.Event() for number in range(places)}

    async def hold(account: str) -> None:
        work_of.set(account)
        async with getattr(database, use)():
            held.append(account)
            await ends[account].wait()

    async def work(name: str) -> None:
        work_of.set(name[0])
        async with getattr(database, use)():
            order.append(name)

    async with asyncio.TaskGroup() as tasks:
        for account in ends:
            tasks.create_task(hold(account))
        await until(lambda: len(held) == places, what="all connections in use")
        for name in ("a1", "a2", "a3", "b1"):
            tasks.create_task(work(name))
            await asyncio.sleep(0)
        assert order == []
        ends["other 0"].set()  # one connection for all of them
        await until(lambda: len(order) == 4, what="their turns")
        for end in ends.values():
            end.set()
    assert order == ["a1", "b1", "a2", "a3"]


async def test_a_task_has_one_connection(database: Database) -> None:
    """With a transaction, it would wait for its account's turn, and hold up all others."""
    for use in (database.reading, database.writing):
        async with database.writing():
            with pytest.raises(RuntimeError, match="holds a connection"):
                await AsyncExitStack().enter_async_context(use())
