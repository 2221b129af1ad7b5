"""Credentials of phones in browsers over REST, on a running PBX: several, and after losses."""

from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.harness.live_lab import Lab
from tests.harness.phones.websocket_phone import WebsocketPhone
from tests.harness.servers.api import Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import MAX_WAIT_S, until
from tests.live.pbx.browsers.browser_agent import (
    ACCOUNT,
    AGENT,
    BASE,
    ENDPOINT,
    BrowserAgent,
    as_login,
    is_unknown,
    registers,
)

LIFE_S = 10
EXPIRING = "expiring-nora"


async def test_a_tab_registers(nora: BrowserAgent) -> None:
    """The node has the credentials when REST responds."""
    for _ in range(4):
        assert await registers(nora, await nora.login())


async def test_two_tabs_are_registered_at_the_same_time(nora: BrowserAgent) -> None:
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


async def contacts(nora: BrowserAgent) -> int:
    """Return how many tabs are registered."""
    shown = await nora.lab.pbx.cli("pjsip show contacts")
    return shown.count(f"{ENDPOINT}/sip:")


async def test_a_login_is_of_one_phone(nora: BrowserAgent) -> None:
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


async def test_a_sip_phone_gets_none(nora: BrowserAgent) -> None:
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


async def shown(nora: BrowserAgent) -> str:
    """Return what the PBX shows of the endpoint."""
    return await nora.lab.pbx.cli(f"pjsip show endpoint {ENDPOINT}")


async def test_a_store_that_lost_everything(nora: BrowserAgent) -> None:
    """The tab registers all the time, and another one gets credentials."""
    login = await nora.login()
    await nora.lab.valkey.flush()
    assert await registers(nora, login)
    await until(lambda: gets_another(nora), what="further credentials")
    assert await registers(nora, login)


async def gets_another(nora: BrowserAgent) -> bool:
    try:
        return await registers(nora, await nora.login())
    except RequestError:
        return False


async def test_a_restarted_pbx(nora: BrowserAgent) -> None:
    """The engine gives it the phone again, with all credentials."""
    first, second = await nora.login(), await nora.login()
    await nora.lab.pbx.stop()
    await nora.lab.ensure_running()
    for login in (first, second):
        await until(partial(registers, nora, login), what="the tab to register")


async def test_a_killed_engine(nora: BrowserAgent) -> None:
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
        "SWITCHROOM_API_PHONE_NODES": f'["{lab.pbx.url}"]',
        "SWITCHROOM_API_PHONE_S": f"{LIFE_S}",
    }
    async with Api(
        tmp_path / "api", engines=[lab.engine], settings=settings, account="expiring"
    ) as api:
        nora = BrowserAgent(lab, api)
        await nora.put(endpoint=f"PJSIP/{EXPIRING}", phone="browser")
        login = await nora.login()
        assert await registers(nora, login)

        async def is_forgotten() -> bool:
            return login.username not in await lab.pbx.cli("pjsip show auths")

        await until(is_forgotten, timeout_s=LIFE_S + MAX_WAIT_S, what="the credentials to end")
        assert not await registers(nora, login)
        assert await registers(nora, await nora.login())
        await api.request("DELETE", f"{BASE}/{AGENT}", token=api.api_key)
        await until(lambda: is_unknown(lab, EXPIRING), what="the endpoint to be deleted")


async def test_a_revoked_key(nora: BrowserAgent) -> None:
    """A tab that is registered with its credentials is offline soon."""
    api = nora.api
    key = await api.request("POST", "/srmain/keys", {"scopes": ["owner"]}, token=api.api_key)
    path = f"{BASE}/{AGENT}/phone-credentials"
    login = as_login(await api.request("POST", path, {}, token=key["apiKey"]))
    async with WebsocketPhone.connected(nora.lab.pbx, login) as phone:
        assert await phone.register() == "SIP/2.0 200 OK"
        assert await contacts(nora) == 1
        await api.request("DELETE", f"/srmain/keys/{key['id']}", token=api.api_key)

        async def is_offline() -> bool:
            return await contacts(nora) == 0

        await until(is_offline, what="the registration to end")
        assert await phone.register() != "SIP/2.0 200 OK"
    assert await registers(nora, await nora.login())


async def test_all_tabs_ring_and_know_their_leg(nora: BrowserAgent) -> None:
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
