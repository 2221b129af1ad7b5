"""Strangers, and a customer, who take all websockets of phones that they can get."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from http import HTTPStatus

import aiohttp
import pytest

from tests.harness.console.people import add_account
from tests.harness.phones.phone import Phone
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.live.pbx.browsers.browser_agent import BASE, BrowserAgent, as_login

STRANGER, CUSTOMER = "127.0.0.5", "127.0.0.6"
EACH = 300
SHARE = 250  # SWITCHROOM_API_MAX_PHONES_OF_ACCOUNT
FOREIGN = "https://evil.example"


class Crowd:
    """Websockets from one address, which stay open until the test has ended."""

    def __init__(self, stack: AsyncExitStack, http: aiohttp.ClientSession) -> None:
        self._stack = stack
        self._http = http

    async def open(self, url: str, origin: str) -> Counter[int]:
        """Open as many as possible; returns how many got each status."""
        return Counter([await self._one(url, origin) for _ in range(EACH)])

    async def _one(self, url: str, origin: str) -> int:
        opening = self._http.ws_connect(url, protocols=["sip"], origin=origin)
        try:
            await self._stack.enter_async_context(opening)
        except aiohttp.WSServerHandshakeError as refused:
            return refused.status
        return HTTPStatus.SWITCHING_PROTOCOLS


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def crowd(stack: AsyncExitStack, address: str) -> Crowd:
    connector = aiohttp.TCPConnector(local_addr=(address, 0), limit=0)
    http = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
    return Crowd(stack, http)


async def test_an_engine_and_a_phone_always_connect(
    nora: BrowserAgent, stack: AsyncExitStack
) -> None:
    """Strangers get no websocket, a customer has a share; so the next engine reaches the node."""
    lab, api = nora.lab, nora.api
    greedy = await add_account(api)
    agent = {"endpoint": f"PJSIP/{greedy.account}-eve", "phone": "browser"}
    await greedy.request("PUT", f"{BASE}/eve", agent, token=greedy.api_key)
    path = f"{BASE}/eve/phone-credentials"
    credentials = await greedy.request("POST", path, {}, token=greedy.api_key)
    strangers, customers = await crowd(stack, STRANGER), await crowd(stack, CUSTOMER)
    (url,) = credentials["urls"]
    at_rest, _, _ = url.partition("?")
    assert await strangers.open(f"{lab.pbx.url}/ws", api.url) == {HTTPStatus.FORBIDDEN: EACH}
    assert await strangers.open(at_rest, api.url) == {HTTPStatus.FORBIDDEN: EACH}
    assert await strangers.open(url, FOREIGN) == {HTTPStatus.FORBIDDEN: EACH}
    more = {HTTPStatus.SWITCHING_PROTOCOLS: SHARE, HTTPStatus.TOO_MANY_REQUESTS: EACH - SHARE}
    assert await customers.open(url, api.url) == more

    await lab.engine.kill()
    await lab.ensure_running()

    created = await nora.credentials()
    login = as_login(created)
    async with WebsocketPhone.connected(lab.pbx, login, url=created["urls"][0]) as tab:
        assert await tab.register() == "SIP/2.0 200 OK"
        number = await lab.add_number(
            {"type": "dial", "data": {"number": "agent:nora"}}, account=api.account
        )
        async with Phone.calling(lab.pbx, number) as caller:
            await tab.decline(await tab.receive("INVITE"))
            await caller.wait_ended()
    await greedy.request("DELETE", f"{BASE}/eve", token=greedy.api_key)
