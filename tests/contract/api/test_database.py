"""The database of both kinds: its shape, its transactions."""

import asyncio
import secrets

import pytest
from sqlalchemy import func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import Account, AccountStore, accounts
from api.common.clock import now_ms
from api.common.errors import Conflict
from api.db.database import Database, DatabaseUnavailable, metadata
from api.db.migrate import migrate
from tests.contract.api.databases import emptied
from tests.harness.servers.postgres import Postgres


async def test_many_processes_may_start_at_once(database_url: str) -> None:
    """The shape is made once, whoever comes first."""
    several = [Database(database_url) for _ in range(3)]
    await asyncio.gather(*map(migrate, several))
    await AccountStore(several[0], now_ms).add(Account("acme", "Acme"))
    assert [each.id for each in await AccountStore(several[2], now_ms).all()] == ["acme"]
    await asyncio.gather(*(each.close() for each in several))


async def test_the_shape_is_that_of_the_code(database: Database) -> None:
    """Every column that the code knows is there."""
    async with database.reading() as connection:
        for table in metadata.sorted_tables:
            await connection.execute(table.select().limit(0))


async def test_what_fails_half_way_leaves_nothing(database: Database) -> None:
    """A transaction that is left by an exception was never there."""

    async def half() -> None:
        async with database.writing() as connection:
            await _add(connection, "acme")
            raise Conflict

    with pytest.raises(Conflict):
        await half()
    assert await AccountStore(database, now_ms).all() == []


async def test_many_writers_wait_for_each_other(database_url: str) -> None:
    """Two processes that read before they write lose nothing."""
    first, second = Database(database_url), Database(database_url)
    await migrate(first)

    async def count(database: Database) -> None:
        async with database.writing() as connection:
            found = await connection.execute(select(func.count()).select_from(accounts))
            await _add(connection, f"{secrets.token_hex(4)}-{found.scalar_one()}")

    await asyncio.gather(*(count(each) for each in (first, second) * 10))
    assert len(await AccountStore(first, now_ms).all()) == 20
    await asyncio.gather(first.close(), second.close())


async def test_a_database_that_is_away_is_told_as_such() -> None:
    """Nobody hears of drivers."""
    away = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    with pytest.raises(DatabaseUnavailable):
        await AccountStore(away, now_ms).all()
    await away.close()


@pytest.mark.parametrize("deed", ["pg_terminate_backend", "pg_cancel_backend"])
async def test_a_server_that_cuts_a_statement_off_is_told_as_such(
    postgres: Postgres, deed: str
) -> None:
    """As when it is stopped for an upgrade; afterwards all is well again."""
    database = Database(postgres.url)

    async def asked(statement: str) -> object:
        async with database.reading() as connection:
            return (await connection.execute(text(statement))).scalar_one()

    with pytest.raises(DatabaseUnavailable):
        await asked(f"SELECT {deed}(pg_backend_pid())")
    assert await asked("SELECT 7") == 7
    await database.close()


async def test_two_that_wait_for_each_other_are_told_as_such(postgres: Postgres) -> None:
    """PostgreSQL rolls one of them back: it may try again."""
    database = Database(await emptied(postgres))
    await migrate(database)
    async with database.writing() as connection:
        for name in ("acme", "other"):
            await _add(connection, name)
    both_hold_one = asyncio.Barrier(2)

    async def renamed(*names: str) -> None:
        async with database.writing() as connection:
            for name in names:
                await connection.execute(
                    update(accounts).where(accounts.c.id == name).values(name="")
                )
                if name == names[0]:
                    await both_hold_one.wait()

    outcomes = await asyncio.gather(
        renamed("acme", "other"), renamed("other", "acme"), return_exceptions=True
    )
    assert {type(each) for each in outcomes} == {DatabaseUnavailable, type(None)}
    (down,) = filter(None, outcomes)
    assert "acme" not in str(down.__cause__)  # the log has no business with what is written
    await database.close()


async def _add(connection: AsyncConnection, name: str) -> None:
    row = {"id": name, "name": name, "is_active": True, "created_ms": 0}
    await connection.execute(insert(accounts).values(row))
