"""From an empty account to an IVR, by the commands of docs/numbers-and-routes.md: curl and REST."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.harness.customers.callback_server import CallbackServer
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.signatures import verified
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import Api
from tests.harness.until import until

GUIDE = Path(__file__).parents[3] / "docs/numbers-and-routes.md"
ACCOUNT, NUMBER = "curl", "+15550003"  # of no other test: a secret is shown once
BASE = "/srmain/voice"
ROUTE = f"{BASE}/numbers/{NUMBER}/route"
ENDPOINT = "rest-anna"  # of no other test: an endpoint belongs to one account
AGENT_HZ, CALLER_HZ = 600, 400


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def rest(servers: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine."""
    folder = tmp_path_factory.mktemp("api")
    async with Api(folder, engines=[servers.engine], account=ACCOUNT, number=NUMBER) as running:
        yield running


@pytest.fixture
async def api(lab: Lab, rest: Api) -> Api:
    """Return the REST layer, once it reaches the engine."""
    await until(lab.engine.is_ready, what="the engine to be ready")
    await until(rest.is_ready, what="the REST layer to be ready")
    return rest


async def follow_guide(lab: Lab, api: Api, target: CallbackServer) -> str:
    """Run the commands of the guide with the addresses of this test; return what they print."""
    (commands,) = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    for example, value in (
        ("http://127.0.0.1:8000", api.url),
        ("+4721930000", NUMBER),
        ("https://example.com/status", target.url("/status")),
        ("PJSIP/acme-anna", f"PJSIP/{ENDPOINT}"),
        ("choose-a-long-one", lab.pbx.passwords.agents),
    ):
        assert example in commands
        commands = commands.replace(example, value)
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euc", commands),
        env={**os.environ, "key": api.api_key},
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


async def found(api: Api, path: str) -> Any:
    """Return what the account's key is shown."""
    return await api.request("GET", path, token=api.api_key)


async def test_an_ivr_is_made_with_curl(lab: Lab, api: Api, target: CallbackServer) -> None:
    """The caller reaches the agent by the menu; the call is recorded, reported and listed."""
    printed = await follow_guide(lab, api, target)
    secret = re.search(r'"secret":"(whsec_[^"]+)"', printed)
    assert secret is not None

    async def has_phone() -> bool:
        return any(each["resource"] == ENDPOINT for each in await lab.ari("endpoints/PJSIP"))

    await until(has_phone, what="the PBX to know the agent's phone")
    async with Phone.agent(lab.pbx, ENDPOINT, tone_hz=AGENT_HZ) as agent:
        await until_online(api)
        async with Phone.calling(lab.pbx, NUMBER, tone_hz=CALLER_HZ) as caller:
            await caller.wait_answered()
            call = await lab.wait_for_call()
            await caller.press("1")
            await caller.until_hears(AGENT_HZ)
            await agent.until_hears(CALLER_HZ)
            state = await found(api, f"{BASE}/agents/anna/presence")
            assert (state["busy"], state["callId"]) == (True, call)
            await caller.hang_up()
        await agent.wait_ended()
    await lab.wait_ended(call)
    await until(lambda: "completed" in events(target, call), what="the last callback")
    for each in target.requests:
        assert verified(secret[1], each.body, each.headers, target.url("/status"))
    assert await recording_of(api, call)
    record = await found(api, f"/srmain/cdr/{call}")
    assert record["toNumber"] == NUMBER


async def test_the_next_call_runs_the_new_route(lab: Lab, api: Api) -> None:
    """Also if the number was called just before; without a route it is 404."""
    for reason, status in (("busy", 486), ("rejected", 403)):
        action = {"type": "hangup", "data": {"reason": reason}}
        body = {"action": action, "answer": False}
        await api.request("PUT", ROUTE, body, token=api.api_key)
        await called_with(lab, status)
    await api.request("DELETE", ROUTE, token=api.api_key)
    await called_with(lab, 404)


async def test_a_store_that_lost_its_data_gets_the_routes_again(
    lab: Lab, api: Api, sounds: MediaServer
) -> None:
    """FLUSHALL during a call: the call continues, and the next one finds its route."""
    play = {"type": "play", "data": {"audioUrl": sounds.tone(AGENT_HZ, 60_000)}}
    await api.request("PUT", ROUTE, {"action": play}, token=api.api_key)
    async with Phone.calling(lab.pbx, NUMBER) as caller:
        await caller.until_hears(AGENT_HZ)
        call = await lab.wait_for_call()
        busy = {"type": "hangup", "data": {"reason": "busy"}}
        await api.request("PUT", ROUTE, {"action": busy, "answer": False}, token=api.api_key)
        await called_with(lab, 486)
        await lab.valkey.flush()
        await called_with(lab, 486)
        await caller.until_hears(AGENT_HZ)
        await caller.hang_up()
    assert (await lab.wait_ended(call))["status"] == "completed"
    await api.request("DELETE", ROUTE, token=api.api_key)


async def called_with(lab: Lab, status: int) -> None:
    """Call until the new route applies; `make bench` measures how soon (`route_change`)."""

    async def gets_status() -> bool:
        async with Phone.calling(lab.pbx, NUMBER) as caller:
            await caller.wait_ended()
        return caller.status == status

    await until(gets_status, what=f"a call to get {status}")


async def until_online(api: Api) -> None:
    """Wait until REST shows that the agent's phone is registered."""

    async def is_online() -> bool:
        return bool((await found(api, f"{BASE}/agents/anna/presence"))["presence"] == "online")

    await until(is_online, what="the agent to be online")


async def recording_of(api: Api, call: str) -> bytes:
    """Return the audio of a call's recording, once REST has it."""
    addresses: list[str] = []

    async def is_listed() -> bool:
        page = await found(api, "/srmain/recordings")
        addresses[:] = [each["signedUrl"] for each in page["data"] if each["callId"] == call]
        return bool(addresses)

    await until(is_listed, what="the recording to be listed")
    async with aiohttp.ClientSession() as session, session.get(api.url + addresses[0]) as reply:
        audio = await reply.read()
    assert (reply.status, audio[:4]) == (200, b"RIFF")
    return audio


def events(target: CallbackServer, call: str) -> list[str]:
    """Return the events of a call that the customer's server has received."""
    return [each.event["event"] for each in target.requests if each.id.startswith(call)]
