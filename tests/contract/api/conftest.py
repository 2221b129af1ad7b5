"""What tests of the REST layer ask for by name."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from api.db.database import Database
from tests.contract.api.cdrs.records import NOON_MS
from tests.contract.api.databases import emptied, migrated, sqlite_url
from tests.contract.api.manual_clock import Hand
from tests.contract.api.rest import Rest, resting, settings_for
from tests.contract.api.serving import Served, serving
from tests.contract.api.templates.messaging import Messaging, messaging
from tests.contract.rpc.harness.bench import Bench
from tests.harness.servers.postgres import Postgres, find_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests here; `make test` installs it."""
    if find_postgres() is None:
        pytest.skip("no PostgreSQL on this machine: apt-get install postgresql")
    server = Postgres()
    asyncio.run(server.start())
    yield server
    asyncio.run(server.stop())


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty database of either kind."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return asyncio.run(emptied(request.getfixturevalue("postgres")))


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Give a database of either kind, in the newest shape."""
    async with migrated(database_url) as found:
        yield found


@pytest.fixture
async def rest(tmp_path: Path, bench: Bench) -> AsyncIterator[Rest]:
    """Give the REST layer before an engine, over SQLite."""
    async with resting(settings_for(sqlite_url(tmp_path), bench.url), bench) as made:
        yield made


@pytest.fixture
async def kept(database_url: str, bench: Bench) -> AsyncIterator[Rest]:
    """Give the same over either kind, for tests of what is kept."""
    async with resting(settings_for(database_url, bench.url), bench) as made:
        yield made


@pytest.fixture
async def served(database_url: str) -> AsyncIterator[Served]:
    """Serve over HTTP on either kind, at five minutes past noon; without an engine."""
    async with serving(database_url, clock=lambda: NOON_MS + 300_000) as found:
        yield found


@pytest.fixture
def clock() -> Hand:
    """Give a clock that a test moves."""
    return Hand()


@pytest.fixture
async def house(database_url: str, bench: Bench, clock: Hand) -> AsyncIterator[Messaging]:
    """Give the layer before the messaging platform's double, over either kind of database."""
    async with messaging(database_url, bench, clock, timeout_s=2) as made:
        yield made


@pytest.fixture
async def one(tmp_path: Path, bench: Bench) -> AsyncIterator[Messaging]:
    """Give the same over SQLite, for what is not about databases."""
    async with messaging(sqlite_url(tmp_path), bench, timeout_s=2) as made:
        yield made
