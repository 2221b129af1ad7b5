"""Fixtures of the contract tests."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from engine.store.redis.store import RedisStore
from engine.store.store import Store
from tests.contract.store.durable_server import DurableValkey
from tests.harness.memory_store.store import MemoryStore
from tests.harness.rpc.scene import RpcScene, running
from tests.harness.servers.valkey import Valkey
from tests.harness.servers.valkey_cluster import ValkeyCluster
from tests.harness.store.stores import Opener
from tests.harness.until import MAX_WAIT_S


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[RpcScene]:
    """Run an engine's RPC."""
    async with running(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def shared_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """Run one server for all tests that do not harm it."""
    valkey = Valkey(tmp_path_factory.mktemp("shared") / "valkey")
    asyncio.run(valkey.start())
    yield valkey
    asyncio.run(valkey.stop())


@pytest.fixture
async def valkey(tmp_path: Path) -> AsyncIterator[Valkey]:
    """Start a server that the test may harm."""
    async with DurableValkey(tmp_path / "valkey") as server:
        yield server


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyCluster]:
    """Run one cluster for all tests that do not harm it."""
    cluster = ValkeyCluster(tmp_path_factory.mktemp("shared") / "cluster")
    asyncio.run(cluster.start())
    yield cluster
    asyncio.run(cluster.stop())


@pytest.fixture(params=["memory", "valkey", "cluster"])
def make(request: pytest.FixtureRequest) -> Callable[..., Store]:
    """Return a factory of empty stores: memory, Valkey, or a cluster of it."""
    if request.param == "memory":
        return MemoryStore
    if request.param == "cluster":
        cluster: ValkeyCluster = request.getfixturevalue("shared_cluster")
        cluster.flush()
        return partial(RedisStore, cluster.url, timeout_s=MAX_WAIT_S)
    valkey: Valkey = request.getfixturevalue("shared_valkey")
    with Redis(port=valkey.port) as client:
        client.flushall()
    return partial(RedisStore, valkey.url, timeout_s=MAX_WAIT_S)


@pytest.fixture
async def opened(make: Callable[..., Store]) -> AsyncIterator[Opener]:
    """Provide a function that opens stores with the options of a test."""
    stores: list[Store] = []

    def opener(**options: Any) -> Store:
        stores.append(make(**options))
        return stores[-1]

    yield opener
    for store in stores:
        await store.close()


@pytest.fixture
def store(opened: Opener) -> Store:
    """Provide an empty store."""
    return opened()
