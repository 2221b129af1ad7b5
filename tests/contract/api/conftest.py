"""Fixtures of the REST layer's tests."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from api.db.database import Database
from tests.harness.api.cdrs.records import NOON_MS
from tests.harness.api.databases import (
    MigratedPostgres,
    empty_database,
    migrated_database,
    sqlite_url,
    write_migrated,
)
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.api.serving import Served, serve_rest
from tests.harness.api.templates.messaging import Messaging, messaging
from tests.harness.rpc.scene import RpcScene
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


@pytest.fixture(scope="session")
def migrated_postgres(postgres: Postgres) -> MigratedPostgres:
    """Provide its database, which each test empties before it begins."""
    return MigratedPostgres(postgres)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Provide the URL of a migrated SQLite or PostgreSQL database without rows."""
    if request.param == "sqlite":
        write_migrated(sqlite_url(tmp_path))
        return sqlite_url(tmp_path)
    postgres: MigratedPostgres = request.getfixturevalue("migrated_postgres")
    return asyncio.run(postgres.empty())


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Provide the URL of a SQLite or PostgreSQL database that no migration has seen."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return asyncio.run(empty_database(request.getfixturevalue("postgres")))


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Provide a migrated SQLite or PostgreSQL database."""
    async with migrated_database(database_url) as found:
        yield found


@pytest.fixture
async def rest(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    """Provide the REST layer with an engine, on SQLite."""
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene) as made:
        yield made


@pytest.fixture
async def kept(database_url: str, scene: RpcScene) -> AsyncIterator[Rest]:
    """Provide the REST layer with an engine, on SQLite and on PostgreSQL."""
    async with run_rest(settings_for(database_url, scene.url), scene) as made:
        yield made


@pytest.fixture
async def served(database_url: str) -> AsyncIterator[Served]:
    """Provide the REST layer over HTTP, on either database, without an engine, at 12:05."""
    async with serve_rest(database_url, clock=lambda: NOON_MS + 300_000) as found:
        yield found


@pytest.fixture
def clock() -> ManualClock:
    """Provide a clock that the test sets."""
    return ManualClock()


@pytest.fixture
async def msgapp(
    database_url: str, scene: RpcScene, clock: ManualClock
) -> AsyncIterator[Messaging]:
    """Provide the REST layer with a fake messaging platform, on either database."""
    async with messaging(database_url, scene, clock, timeout_s=2) as made:
        yield made


@pytest.fixture
async def one(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Messaging]:
    """Provide the same on SQLite, for tests that do not depend on the database."""
    async with messaging(sqlite_url(tmp_path), scene, timeout_s=2) as made:
        yield made
