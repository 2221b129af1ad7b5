"""What several live tests share: the parties of a steered call, and two nodes under one engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.answerer import answering_all
from tests.harness.crowd import Crowd
from tests.harness.live import Lab
from tests.harness.two_nodes import TwoNodes


@pytest.fixture
async def crowd(lab: Lab) -> AsyncIterator[Crowd]:
    """Give a call's parties, none of them there yet; the call is ended afterwards."""
    async with Crowd(lab) as crowd:
        yield crowd
        await lab.mended()
        await crowd.part()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def two_servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TwoNodes]:
    """Start everything once."""
    two = TwoNodes(tmp_path_factory.mktemp("two"))
    try:
        await two.mended()
        yield two
    finally:
        await two.stop()


@pytest.fixture
async def two(two_servers: TwoNodes, tmp_path: Path) -> AsyncIterator[TwoNodes]:
    """Give both nodes, empty, and a trunk that answers all calls."""
    await two_servers.mended()
    async with answering_all(tmp_path, two_servers.trunk_port):
        yield two_servers
        await two_servers.mended()
