"""Backup and restore between databases: all rows, at one moment, and a running REST layer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from api.accounts.store import Account, AccountStore
from api.app import create_app
from api.common.clock import now_ms
from api.contacts.tables import contacts
from api.db.database import Database
from api.services import open_services
from tests.contract.api.backup.rows import ROWS, TABLES, backed_up, fill, restored, rows_of
from tests.harness.api.databases import empty_database, migrated_database, opened, sqlite_url
from tests.harness.api.rest import run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.postgres import Postgres

NUMBERS = "/srmain/msgapp-numbers"


class Machines:
    """A machine with a database, and an empty one that takes its place."""

    def __init__(self, folder: Path, postgres: Postgres | None) -> None:
        self._folder = folder
        self._postgres = postgres

    async def empty_url(self, name: str) -> str:
        """Return the URL of an empty database, in place of the one before."""
        if self._postgres is not None:
            return await empty_database(self._postgres)
        folder = self._folder / name
        folder.mkdir()
        return sqlite_url(folder)


@pytest.fixture(params=["sqlite", "postgres"])
def lost(request: pytest.FixtureRequest, tmp_path: Path) -> Machines:
    """Provide the machine that is backed up."""
    return _machines(request, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Machines:
    """Provide the machine that the backup is restored to."""
    return _machines(request, tmp_path)


def _machines(request: pytest.FixtureRequest, folder: Path) -> Machines:
    is_sqlite = request.param == "sqlite"
    return Machines(folder, None if is_sqlite else request.getfixturevalue("postgres"))


async def test_every_row_is_restored(lost: Machines, new: Machines) -> None:
    """An empty machine has the rows of all tables afterwards, on the same database or another."""
    async with migrated_database(await lost.empty_url("lost")) as database:
        await fill(database)
        rows, content = await rows_of(database), await backed_up(database)
    async with opened(await new.empty_url("new")) as database:
        contents = await restored(database, content)
        assert await rows_of(database) == rows
    assert contents.counts == {each.name: ROWS for each in TABLES}


async def test_ids_of_deleted_rows_are_not_given_again(lost: Machines, new: Machines) -> None:
    """The next id is one that the lost machine never gave to any row."""
    async with migrated_database(await lost.empty_url("lost")) as database:
        await fill(database)
        await database.execute(sa.delete(contacts))
        last = await _added(database)
        await database.execute(sa.delete(contacts))
        content = await backed_up(database)
    async with opened(await new.empty_url("new")) as database:
        await restored(database, content)
        assert await _added(database) == last + 1


async def test_a_backup_has_one_moment(database: Database) -> None:
    """What is written while it is made is not in it, in no table."""
    await AccountStore(database, now_ms).add(Account("acme", "Acme"))
    async with database.snapshot() as connection:
        count = sa.text("SELECT count(*) FROM accounts")
        assert (await connection.execute(count)).scalar_one() == 1
        await asyncio.create_task(AccountStore(database, now_ms).add(Account("later", "Later")))
        assert (await connection.execute(count)).scalar_one() == 1
    assert len(await AccountStore(database, now_ms).all()) == 2


async def test_a_migrated_database_without_rows_is_empty(new: Machines) -> None:
    """A new machine whose database is migrated already can be restored to."""
    async with migrated_database(await new.empty_url("lost")) as database:
        await AccountStore(database, now_ms).add(Account("acme", "Acme"))
        content = await backed_up(database)
    async with migrated_database(await new.empty_url("new")) as database:
        await restored(database, content)
        assert await AccountStore(database, now_ms).all() == [Account("acme", "Acme")]


@asynccontextmanager
async def _client(url: str, scene: RpcScene) -> AsyncIterator[httpx2.AsyncClient]:
    async with open_services(settings_for(url, scene.url)) as services:
        transport = httpx2.ASGITransport(create_app(services))
        async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
            yield client


async def test_customers_notice_nothing(lost: Machines, new: Machines, scene: RpcScene) -> None:
    """A key and a token of the lost machine work on the new one, which has the account's data."""
    url = await lost.empty_url("lost")
    async with run_rest(settings_for(url, scene.url), scene) as rest:
        listed = (await rest.request("GET", NUMBERS)).json()
        content = await backed_up(rest.services.database)
        login = {"apiKey": rest.credentials["acme"].api_key}
        login |= {"apiSecret": rest.credentials["acme"].api_secret}
        token = rest.token
    url = await new.empty_url("new")
    async with opened(url) as database:
        await restored(database, content)
    async with _client(url, scene) as client:
        found = await client.get(NUMBERS, headers={"Authorization": token})
        assert found.json() == listed
        answer = await client.post("/auth/get-access-token/acme", json=login)
        assert answer.status_code == 200


async def _added(database: Database) -> int:
    """Add a contact; return its id."""
    row = {
        "account_id": "acme",
        "list_id": 7,
        "phone_number": "+4799999999",
        "add_to_running_campaign": False,
        "created_ms": 0,
        "updated_ms": 0,
    }
    async with database.writing() as connection:
        added = await connection.execute(sa.insert(contacts).values(row).returning(contacts.c.id))
        return int(added.scalar_one())
