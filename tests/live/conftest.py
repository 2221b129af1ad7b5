"""Fixtures of the live tests: shared servers, customer servers, and the parties of calls."""

import gc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.answerer import answering_all
from tests.harness.phones.parties import Parties


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude imported and collected objects from garbage collection.

    They are half a million, and scanning them would block the loop of the phones for over a second.
    """
    gc.freeze()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Start the servers once; `lab` restarts stopped ones between tests."""
    # Phones of these tests are reached over the trunk, and some send REFER.
    async with open_lab(
        tmp_path_factory.mktemp("lab"), trunk_refers=True, agent_refers=True
    ) as lab:
        yield lab


@pytest.fixture
async def lab(servers: Lab) -> AsyncIterator[Lab]:
    """Return the running servers; no channel and no bridge may be left afterwards."""
    async with servers.in_use() as lab:
        yield lab


@pytest.fixture
async def hooks() -> AsyncIterator[WebhookServer]:
    async with WebhookServer() as server:
        yield server


@pytest.fixture
async def sounds() -> AsyncIterator[MediaServer]:
    async with MediaServer() as server:
        yield server


@pytest.fixture
async def parties(lab: Lab) -> AsyncIterator[Parties]:
    """Return an empty `Parties`; its call is hung up afterwards."""
    async with Parties(lab) as parties:
        yield parties
        await lab.ensure_running()
        await parties.hang_up()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def two_servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TwoNodes]:
    two = TwoNodes(tmp_path_factory.mktemp("two"))
    try:
        await two.ensure_running()
        yield two
    finally:
        await two.stop()


@pytest.fixture
async def two(two_servers: TwoNodes, tmp_path: Path) -> AsyncIterator[TwoNodes]:
    """Return two empty nodes and a trunk that answers all calls."""
    await two_servers.ensure_running()
    async with answering_all(tmp_path, two_servers.trunk_port):
        yield two_servers
        await two_servers.ensure_running()
