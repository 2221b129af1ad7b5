"""Credentials of phones in browsers over REST, on a running PBX: several, and after losses."""

import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.digest_login import Login
from tests.harness.phones.recorded_datagrams import recorded_datagrams
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.harness.servers.api import Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import SLACK_S, until

ACCOUNT, NUMBER = "browsers", "+15550005"  # of no other test
BASE = "/srmain/voice/agents"
AGENT, ENDPOINT = "nora", "browsers-nora"
WITHIN_S = 1.0
LIFE_S = 10


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Run a PBX that serves browsers."""
    settings = {"PHONE_WEBSOCKET": "yes"}
    async with open_lab(tmp_path_factory.mktemp("browsers"), settings=settings) as lab:
        yield lab


class Nora:
    """An agent whose phone is a browser."""

    def __init__(self, lab: Lab, api: Api) -> None:
        self.lab = lab
        self.api = api

    async def put(self, agent: str = AGENT, **body: str) -> None:
        """Change an agent with the account's key."""
        await self.api.request("PUT", f"{BASE}/{agent}", body, token=self.api.api_key)

    async def credentials(self, agent: str = AGENT) -> dict[str, Any]:
        """Create credentials."""
        path = f"{BASE}/{agent}/phone-credentials"
        found: dict[str, Any] = await self.api.request("POST", path, {}, token=self.api.api_key)
        return found

    async def login(self, agent: str = AGENT) -> Login:
        """Create credentials, as a phone uses them."""
        return as_login(await self.credentials(agent))


def as_login(credentials: dict[str, Any]) -> Login:
    """Return credentials as a phone uses them."""
    agent = credentials["uri"].removeprefix("sip:").partition("@")[0]
    return Login(agent, credentials["password"], username=credentials["username"])


@pytest.fixture
async def nora(lab: Lab, tmp_path: Path) -> AsyncIterator[Nora]:
    """Run a REST layer with an agent whose phone is a browser."""
    folder = tmp_path / "api"
    settings = {
        "SWITCHROOM_API_PHONE_URLS": f'["{lab.pbx.url.replace("http", "ws")}/ws"]',
        "SWITCHROOM_ACCOUNT_SCOPES": '["owner"]',
    }
    async with Api(
        folder, engines=[lab.engine], settings=settings, account=ACCOUNT, number=NUMBER
    ) as api:
        agent = Nora(lab, api)
        await agent.put(endpoint=f"PJSIP/{ENDPOINT}", phone="browser")
        yield agent
        await api.request("DELETE", f"{BASE}/{AGENT}", token=api.api_key)
        await until(lambda: is_unknown(lab), what="the endpoint to be deleted")


async def is_unknown(lab: Lab) -> bool:
    found = await lab.ari("endpoints/PJSIP")
    return ENDPOINT not in {each["resource"] for each in found}


async def registers(nora: Nora, login: Login) -> bool:
    """Register a tab; returns whether the PBX accepts it."""
    async with WebsocketPhone.connected(nora.lab.pbx, login) as phone:
        return await phone.register() == "SIP/2.0 200 OK"


async def test_a_tab_registers_at_once(nora: Nora) -> None:
    """The node has the credentials when REST responds; that takes less than a second."""
    for _ in range(4):
        began_s = time.monotonic()
        login = await nora.login()
        assert await registers(nora, login)
        assert time.monotonic() - began_s < WITHIN_S + SLACK_S


async def test_two_tabs_are_registered_at_the_same_time(nora: Nora) -> None:
    """Each with credentials of its own; a tab that closes leaves."""
    first, second = await nora.login(), await nora.login()
    pbx = nora.lab.pbx
    async with WebsocketPhone.connected(pbx, first) as one:
        assert await one.register() == "SIP/2.0 200 OK"
        async with WebsocketPhone.connected(pbx, second) as other:
            assert await other.register() == "SIP/2.0 200 OK"
            assert await contacts(nora) == 2

        async def one_is_left() -> bool:
            return await contacts(nora) == 1

        await until(one_is_left, what="the closed tab to leave")


async def contacts(nora: Nora) -> int:
    """Return how many tabs are registered."""
    shown = await nora.lab.pbx.cli("pjsip show contacts")
    return shown.count(f"{ENDPOINT}/sip:")


async def test_a_login_is_of_one_phone(nora: Nora) -> None:
    """It registers no other address, and no other phone accepts it."""
    await nora.put("otto", endpoint="PJSIP/browsers-otto", phone="browser")
    otto, login = await nora.login("otto"), await nora.login()
    foreign = (
        replace(login, agent=otto.agent),
        replace(login, to=otto.agent),
        replace(login, password=otto.password),
        replace(login, agent=login.username),
        replace(login, username=""),
    )
    for each in foreign:
        assert not await registers(nora, each), each
    assert await registers(nora, login)
    assert await registers(nora, otto)


async def test_a_sip_phone_gets_none(nora: Nora) -> None:
    """A change of what the phone is deletes its credentials, and makes the endpoint again."""
    login = await nora.login()
    password = {"password": "a-password-of-nora"}
    await nora.put(endpoint=f"PJSIP/{ENDPOINT}")
    with pytest.raises(RequestError) as refused:
        await nora.credentials()
    assert (refused.value.status, refused.value.problem["code"]) == (409, "not_a_browser")
    await nora.put(f"{AGENT}/password", **password)

    async def is_sip() -> bool:
        return "webrtc                             : no" in await shown(nora)

    await until(is_sip, what="the endpoint of a SIP phone")
    assert not await registers(nora, login)
    await nora.put(endpoint=f"PJSIP/{ENDPOINT}", phone="browser")
    assert await registers(nora, await nora.login())
    assert "webrtc                             : yes" in await shown(nora)


async def shown(nora: Nora) -> str:
    """Return what the PBX shows of the endpoint."""
    return await nora.lab.pbx.cli(f"pjsip show endpoint {ENDPOINT}")


async def test_a_store_that_lost_everything(nora: Nora) -> None:
    """The tab registers all the time, and another one gets credentials."""
    login = await nora.login()
    await nora.lab.valkey.flush()
    assert await registers(nora, login)
    await until(lambda: gets_another(nora), what="further credentials")
    assert await registers(nora, login)


async def gets_another(nora: Nora) -> bool:
    try:
        return await registers(nora, await nora.login())
    except RequestError:
        return False


async def test_a_restarted_pbx(nora: Nora) -> None:
    """The engine gives it the phone again, with all credentials."""
    first, second = await nora.login(), await nora.login()
    await nora.lab.pbx.stop()
    await nora.lab.ensure_running()
    for login in (first, second):
        await until(partial(registers, nora, login), what="the tab to register")


async def test_a_killed_engine(nora: Nora) -> None:
    """The credentials stay valid, and the next engine makes further ones."""
    login = await nora.login()
    await nora.lab.engine.kill()
    assert await registers(nora, login)
    await nora.lab.ensure_running()
    assert await registers(nora, await nora.login())
    assert await registers(nora, login)


async def test_expired_credentials(lab: Lab, tmp_path: Path) -> None:
    """They are refused, and the PBX forgets them, without any request."""
    settings = {
        "SWITCHROOM_API_PHONE_URLS": f'["{lab.pbx.url.replace("http", "ws")}/ws"]',
        "SWITCHROOM_API_PHONE_S": f"{LIFE_S}",
    }
    async with Api(
        tmp_path / "api", engines=[lab.engine], settings=settings, account=ACCOUNT, number=NUMBER
    ) as api:
        nora = Nora(lab, api)
        await nora.put(endpoint=f"PJSIP/{ENDPOINT}", phone="browser")
        login = await nora.login()
        assert await registers(nora, login)

        async def is_forgotten() -> bool:
            return login.username not in await lab.pbx.cli("pjsip show auths")

        await until(is_forgotten, timeout_s=LIFE_S + SLACK_S, what="the credentials to be deleted")
        assert not await registers(nora, login)
        assert await registers(nora, await nora.login())
        await api.request("DELETE", f"{BASE}/{AGENT}", token=api.api_key)
        await until(lambda: is_unknown(lab), what="the endpoint to be deleted")


async def test_a_revoked_key(nora: Nora) -> None:
    """A tab that is registered with its credentials is offline within a second or so."""
    api = nora.api
    key = await api.request("POST", "/srmain/keys", {"scopes": ["owner"]}, token=api.api_key)
    path = f"{BASE}/{AGENT}/phone-credentials"
    login = as_login(await api.request("POST", path, {}, token=key["apiKey"]))
    async with WebsocketPhone.connected(nora.lab.pbx, login) as phone:
        assert await phone.register() == "SIP/2.0 200 OK"
        assert await contacts(nora) == 1
        began_s = time.monotonic()
        await api.request("DELETE", f"/srmain/keys/{key['id']}", token=api.api_key)

        async def is_offline() -> bool:
            return await contacts(nora) == 0

        await until(is_offline, what="the registration to end")
        assert time.monotonic() - began_s < WITHIN_S + SLACK_S
        assert await phone.register() != "SIP/2.0 200 OK"
    assert await registers(nora, await nora.login())


HOSTILE = (
    "h.invalid;x=1&PJSIP/trunk;transport=ws",
    'h.invalid;x="&PJSIP/trunk/sip:+15550009@127.0.0.1";transport=ws',  # quoted, as SIP allows
    'h.invalid;y="";x=1&PJSIP/trunk;transport=ws',
)


async def test_all_tabs_ring_and_know_their_leg(nora: Nora) -> None:
    """So a page controls its call over REST; a tab that declines leaves the others ringing."""
    lab = nora.lab
    first, second = await nora.login(), await nora.login()
    async with (
        WebsocketPhone.connected(lab.pbx, first) as one,
        WebsocketPhone.connected(lab.pbx, second) as other,
    ):
        assert await one.register() == await other.register() == "SIP/2.0 200 OK"
        call = await lab.call(to=f"agent:{AGENT}", account=ACCOUNT)
        invites = [await each.receive("INVITE") for each in (one, other)]
        for invite in invites:
            assert f"X-Switchroom-Leg: {call}.l0" in invite
        await one.decline(invites[0])
        assert (await lab.engine.call(call))["state"] != "ended"
        await other.decline(invites[1])
        await lab.wait_ended(call)


@pytest.mark.parametrize("hostile_address", HOSTILE)
async def test_an_address_that_would_call_a_number(nora: Nora, hostile_address: str) -> None:
    """A phone chooses a part of its own address: one that names another destination is left out."""
    lab = nora.lab
    first, second = await nora.login(), await nora.login()
    async with (
        WebsocketPhone.connected(lab.pbx, first) as honest,
        WebsocketPhone.connected(lab.pbx, second) as hostile,
    ):
        assert await honest.register() == "SIP/2.0 200 OK"
        assert await hostile.register(hostile_address) == "SIP/2.0 200 OK"
        assert "&PJSIP/trunk" in await lab.pbx.cli("database show registrar/contact")
        call = await lab.call(to=f"agent:{AGENT}", account=ACCOUNT)
        invite = await honest.receive("INVITE")
        channels = {each["name"].partition("-")[0] for each in await lab.ari("channels")}
        assert not [each for each in channels if each.startswith("PJSIP/trunk")]
        await honest.decline(invite)
        await lab.wait_ended(call)


async def test_an_address_beside_that_of_the_tab(nora: Nora, lab: Lab) -> None:
    """Asterisk rewrites the first address of a REGISTER only: others are not called."""
    login = await nora.login()
    async with WebsocketPhone.connected(lab.pbx, login) as tab, recorded_datagrams() as victim:
        address = f"h.invalid;transport=ws>, <sip:{ENDPOINT}@{victim.address}"
        assert await tab.register(address) == "SIP/2.0 200 OK"
        assert victim.address in await lab.pbx.cli("database show registrar/contact")
        call = await lab.call(to=f"agent:{AGENT}", account=ACCOUNT)
        invite = await tab.receive("INVITE")
        await tab.decline(invite)
        await lab.wait_ended(call)
        assert not victim.received
