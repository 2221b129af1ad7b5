"""Addresses of phones in browsers that would send their calls elsewhere."""

import pytest

from tests.harness.live_lab import Lab
from tests.harness.phones.recorded_datagrams import recorded_datagrams
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.harness.until import until
from tests.live.pbx.browsers.browser_agent import ACCOUNT, AGENT, ENDPOINT, BrowserAgent

HOSTILE = (
    "h.invalid;x=1&PJSIP/trunk;transport=ws",
    'h.invalid;x="&PJSIP/trunk/sip:+15550009@127.0.0.1";transport=ws',  # quoted, as SIP allows
    'h.invalid;y="";x=1&PJSIP/trunk;transport=ws',
)


@pytest.mark.parametrize("hostile_address", HOSTILE)
async def test_an_address_that_would_call_a_number(
    nora: BrowserAgent, hostile_address: str
) -> None:
    """A phone chooses a part of its own address: one that names another destination is deleted."""
    lab = nora.lab
    first, second = await nora.login(), await nora.login()
    async with (
        WebsocketPhone.connected(lab.pbx, first) as honest,
        WebsocketPhone.connected(lab.pbx, second) as hostile,
    ):
        assert await honest.register() == "SIP/2.0 200 OK"
        assert await hostile.register(hostile_address) == "SIP/2.0 200 OK"
        await until(lambda: is_deleted(lab, "&PJSIP/trunk"), what="the hostile address to go")
        call = await lab.call(to=f"agent:{AGENT}", account=ACCOUNT)
        invite = await honest.receive("INVITE")
        channels = {each["name"].partition("-")[0] for each in await lab.ari("channels")}
        assert not [each for each in channels if each.startswith("PJSIP/trunk")]
        await honest.decline(invite)
        await lab.wait_ended(call)


async def test_an_address_beside_that_of_the_tab(nora: BrowserAgent, lab: Lab) -> None:
    """Asterisk rewrites the first address of a REGISTER only: others are deleted."""
    login = await nora.login()
    async with WebsocketPhone.connected(lab.pbx, login) as tab, recorded_datagrams() as victim:
        address = f"h.invalid;transport=ws>, <sip:{ENDPOINT}@{victim.address}"
        assert await tab.register(address) == "SIP/2.0 200 OK"
        await until(lambda: is_deleted(lab, victim.address), what="the other address to go")
        call = await lab.call(to=f"agent:{AGENT}", account=ACCOUNT)
        invite = await tab.receive("INVITE")
        await tab.decline(invite)
        await lab.wait_ended(call)
        assert not victim.received


async def is_deleted(lab: Lab, address: str) -> bool:
    """Return whether the PBX has no contact with a text."""
    return address not in await lab.pbx.cli("database show registrar/contact")
