"""Phones in browsers at two nodes: one is called wherever the call is, and knows its leg."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

import pytest
import pytest_asyncio

from tests.harness.pbx.two_nodes import TwoNodes, node_of
from tests.harness.phones.digest_login import Login
from tests.harness.phones.phone import Phone
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.harness.until import until

AGENT, PASSWORD = "bea", "password-of-the-browser"
ACCEPTED = "SIP/2.0 200 OK"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TwoNodes]:
    """Run two nodes that serve browsers."""
    settings = {"PHONE_WEBSOCKET": "yes"}
    two = TwoNodes(tmp_path_factory.mktemp("browsers"), settings=settings)
    try:
        await two.ensure_running()
        yield two
    finally:
        await two.stop()


@pytest.mark.parametrize("home", [0, 1], ids=["at its node", "at the other node"])
async def test_all_tabs_ring(servers: TwoNodes, home: int) -> None:
    """The dialplan of the phone's node calls them, and passes the id of the leg on."""
    two, pbx = servers, servers.nodes[0]
    agent = {"endpoint": f"PJSIP/{AGENT}", "phone": "browser"}
    await two.engine.documents.agent("acme", AGENT, agent)
    await two.engine.documents.password("acme", AGENT, agent, PASSWORD)
    async with AsyncExitStack() as stack:
        tabs = [
            await stack.enter_async_context(WebsocketPhone.connected(pbx, Login(AGENT, PASSWORD)))
            for _ in range(2)
        ]
        for tab in tabs:
            await until(partial(is_registered, tab), what="the tab to register")
        number = await two.lab(home).add_number(
            {"type": "dial", "data": {"number": f"agent:{AGENT}"}}
        )
        async with Phone.calling(two.nodes[home], number) as caller:
            invites = [await tab.receive("INVITE") for tab in tabs]
            (call,) = [each["callId"] for each in (await two.engine.rpc("GET", "/calls"))["calls"]]
            assert node_of(call) == two.nodes[home].name
            for invite in invites:
                assert f"X-Switchroom-Leg: {call}.l" in invite
            for tab, invite in zip(tabs, invites, strict=True):
                await tab.decline(invite)
            await caller.wait_ended()
    await two.engine.documents.delete("acme", "agent", AGENT)


async def is_registered(tab: WebsocketPhone) -> bool:
    """Register a tab; returns whether the PBX accepts it."""
    return await tab.register() == ACCEPTED
