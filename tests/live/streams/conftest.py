"""A lab with two stream gateways beside its PBX, and bots."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.harness.customers.bot_server import BotServer
from tests.harness.live_lab import Lab, open_lab


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stream_servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with open_lab(tmp_path_factory.mktemp("streams"), gateways=2) as lab:
        yield lab


@pytest.fixture
async def lab(stream_servers: Lab) -> AsyncIterator[Lab]:
    """Return the running servers; no channel and no bridge may be left afterwards."""
    await stream_servers.ensure_running()
    yield stream_servers
    await stream_servers.ensure_running()
    try:
        await stream_servers.wait_empty()
    except TimeoutError:
        await stream_servers.pbx.kill()  # the next test starts with an empty one
        raise


@pytest.fixture
async def bots() -> AsyncIterator[BotServer]:
    async with BotServer() as server:
        yield server
