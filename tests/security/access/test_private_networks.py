"""Private networks that only one account's webhooks, callbacks and audio may reach."""

import random
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import ClientConnectorError, web
from aiohttp.test_utils import TestServer

from base.address_guard import AddressRefused, is_address_refused
from base.lookups import Lookups, look_up
from engine.app.account_networks import (
    address_guards,
    open_sessions,
)
from engine.callbacks.transport import Delivered, Failed, SignedEvent
from engine.callbacks.transports.http import HttpTransport
from engine.webhooks.action_client import ActionClient
from engine.webhooks.errors import WebhookFailed
from tests.harness.executors import InlineExecutor
from tests.harness.settings import read_settings
from tests.harness.signing import fixed_signer
from wire.callbacks.targets import HttpsTarget
from wire.tree import Limits

OWN = {"private_networks_account": "acme", "webhook_allow": ["127.0.0.0/8"]}
ALL = {"webhook_allow": ["127.0.0.0/8"]}


async def answer(_request: web.Request) -> web.Response:
    return web.json_response({"type": "hangup"})


class Customers:
    """A server in a private network, and the engine's ways to it."""

    def __init__(self, stack: AsyncExitStack, settings: Mapping[str, Any]) -> None:
        self._stack = stack
        self._settings = read_settings(settings)

    async def open(self) -> None:
        app = web.Application()
        app.add_routes([web.route("*", "/", answer)])
        self.url = str((await self._stack.enter_async_context(TestServer(app))).make_url("/"))
        allowed = self._settings.webhook_allow
        lookups = Lookups(look_up, InlineExecutor())
        self.sessions = await open_sessions(self._stack, self._settings, allowed, lookups)

    async def get(self, account: str) -> int:
        """Request it by an account's session; 0: refused."""
        try:
            async with self.sessions.of(account).get(self.url) as got:
                return got.status
        except ClientConnectorError as error:
            return 0 if is_address_refused(error) else -1


@pytest.mark.parametrize(
    ("settings", "acme", "other"), [(OWN, 200, 0), (ALL, 200, 200), ({}, 0, 0)]
)
async def test_who_reaches_a_private_network(
    settings: Mapping[str, Any], acme: int, other: int
) -> None:
    """One account, or all that the setting does not exclude; a kept connection is not lent."""
    async with AsyncExitStack() as stack:
        customers = Customers(stack, settings)
        await customers.open()
        for account, expected in (("acme", acme), ("other", other), ("acme", acme)):
            assert await customers.get(account) == expected


async def test_webhooks_and_callbacks() -> None:
    """Both tell accounts apart."""
    async with AsyncExitStack() as stack:
        customers = Customers(stack, OWN)
        await customers.open()
        plain = Limits(allow_insecure=True)
        sessions = customers.sessions.of
        actions = ActionClient(sessions, plain, fixed_signer(), time.time, random.random)
        assert (await actions.ask("acme", customers.url, b"{}", "1")).action is not None
        with pytest.raises(WebhookFailed) as failed:
            await actions.ask("other", customers.url, b"{}", "2")
        assert failed.value.reason == "refused_address"
        callbacks = HttpTransport(sessions)
        target = HttpsTarget(customers.url)
        outcomes = [
            await callbacks.deliver(target, SignedEvent(account, "e1", b"{}", {}))
            for account in ("acme", "other")
        ]
        assert outcomes == [Delivered(), Failed("refused_address")]


def test_grpc_addresses() -> None:
    """The guard of a gRPC channel is the account's, too."""
    settings = read_settings(OWN)
    guards = address_guards(settings, settings.webhook_allow)
    guards.of("acme").check("127.0.0.1", 443)
    with pytest.raises(AddressRefused):
        guards.of("other").check("127.0.0.1", 443)
