"""Fixture of the tests of the webhook log."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from tests.contract.rpc.harness.bench import Bench
from tests.contract.rpc.webhooks.scene import Scene
from tests.contract.webhooks.customer import HANGUP, Server


@pytest.fixture
async def scene(bench: Bench) -> AsyncIterator[Scene]:
    """Run a customer's server that answers with an action."""
    server = Server(web.Response(text=HANGUP, headers={"X-Request-Id": "r-1", "Set-Cookie": "a=b"}))
    async with server.open() as url:
        yield Scene(bench, server, url)
