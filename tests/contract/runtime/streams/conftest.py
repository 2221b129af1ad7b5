"""Scenes for stream commands."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest

from tests.contract.runtime.streams.scene import StreamScene
from tests.contract.runtime.streams.simulated_gateway import SimulatedGateway


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """Return what reaches gateways."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def gateways() -> AsyncIterator[list[SimulatedGateway]]:
    """Return two gateways."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(SimulatedGateway()) for _ in range(2)]


@pytest.fixture
async def scene(
    gateways: list[SimulatedGateway], http: aiohttp.ClientSession
) -> AsyncIterator[StreamScene]:
    """Return two gateways and a call."""
    scene = StreamScene(gateways, http)
    yield scene
    await scene.close()
