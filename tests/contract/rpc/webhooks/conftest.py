"""Fixture of the tests of the webhook log."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from tests.contract.rpc.webhooks.scene import WebhookScene
from tests.harness.rpc.scene import RpcScene
from tests.harness.webhooks.customer import HANGUP, Server


@pytest.fixture
async def webhook_scene(scene: RpcScene) -> AsyncIterator[WebhookScene]:
    """Run a customer's server that answers with an action."""
    server = Server(web.Response(text=HANGUP, headers={"X-Request-Id": "r-1", "Set-Cookie": "a=b"}))
    async with server.open() as url:
        yield WebhookScene(scene, server, url)
