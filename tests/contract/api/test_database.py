"""The database of both kinds: its shape, its transactions."""

import asyncio
import secrets

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import Account, Accounts, accounts
from api.clock import now_ms
from api.db import Database, DatabaseDown, metadata
from api.errors import Conflict
from api.migrate import migrate


async def test_many_processes_may_start_at_once(database_url: str) -> None:
    """The shape is made once, whoever comes first."""
    several = [Database(database_url) for _ in range(3)]
    await asyncio.gather(*map(migrate, several))
    await Accounts(several[0], now_ms).add(Account("acme", "Acme"))
    assert [each.id for each in await Accounts(several[2], now_ms).all()] == ["acme"]
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
    assert await Accounts(database, now_ms).all() == []


async def test_many_writers_wait_for_each_other(database_url: str) -> None:
    """Two processes that read before they write lose nothing."""
    first, second = Database(database_url), Database(database_url)
    await migrate(first)

    async def count(database: Database) -> None:
        async with database.writing() as connection:
            found = await connection.execute(select(func.count()).select_from(accounts))
            await _add(connection, f"{secrets.token_hex(4)}-{found.scalar_one()}")

    await asyncio.gather(*(count(each) for each in (first, second) * 10))
    assert len(await Accounts(first, now_ms).all()) == 20
    await asyncio.gather(first.close(), second.close())


async def test_a_database_that_is_away_is_told_as_such() -> None:
    """Nobody hears of drivers."""
    away = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    with pytest.raises(DatabaseDown):
        await Accounts(away, now_ms).all()
    await away.close()


async def _add(connection: AsyncConnection, name: str) -> None:
    row = {"id": name, "name": name, "is_active": True, "created_ms": 0}
    await connection.execute(insert(accounts).values(row))
