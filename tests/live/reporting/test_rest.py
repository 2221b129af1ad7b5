"""REST control of real calls: mute, transfer and conference, checked by tone."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.phones.recorded_calls import wait_for_recording
from tests.harness.phones.recording_file import LEFT, RIGHT
from tests.harness.servers.api import NUMBER, Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

BASE = "/srmain/voice"
PAUSED_MS = 700  # of a second at least, on a busy machine


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def rest(servers: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine."""
    folder = tmp_path_factory.mktemp("api")
    async with Api(folder, engines=[servers.engine]) as running:
        yield running


@pytest.fixture
async def api(lab: Lab, rest: Api) -> Api:
    """Return the REST layer, once it reaches the engine."""
    await until(lab.engine.is_ready, what="the engine to be ready")
    await until(rest.is_ready, what="the REST layer to be ready")
    return rest


async def test_a_call_is_controlled_over_rest(api: Api, parties: Parties) -> None:
    """Originate, mute, transfer, conference and hangup; the phones check who hears whom."""
    token = await api.token()

    async def ask(path: str, **body: Any) -> dict[str, Any]:
        return await api.request("POST", f"{BASE}/{path}", body, token=token)

    customer, source = await parties.add_phone("customer"), await parties.add_phone("source")
    target, fourth = await parties.add_phone("target"), await parties.add_phone("fourth")
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    request = {"from": NUMBER, "to": customer.address, "action": dial}
    call = parties.call = (await ask("call", **request))["callId"]
    await parties.expect_audio(customer="source", source="customer")
    legs = {"customer": await parties.leg("customer"), "source": await parties.leg("source")}

    await ask("mute", callId=call, channelId=legs["customer"])
    await parties.expect_audio(source="", customer="source")
    await api.request(
        "POST", f"{BASE}/call/{call}/unmute", {"channelId": legs["customer"]}, token=token
    )
    await parties.expect_audio(source="customer", customer="source")

    channels = {"customerChannelId": legs["customer"], "sourceChannelId": legs["source"]}
    who = {"callId": call, "sourceAgentId": "ada", **channels}
    number = {"kind": "number", "number": target.address}
    transfer = await ask("transfer/init", transferMode="attended", target=number, **who)
    await parties.expect_audio(source="target", target="source", customer="music")
    session = {"callId": call, "transferSessionId": transfer["transferSessionId"]}
    await ask("transfer/complete", **session, completedByAgentId="ada", reason="manual_complete")
    await source.wait_ended()
    await parties.expect_audio(customer="target", target="customer")

    who["sourceChannelId"] = await parties.leg("target")
    added = await ask(
        "conference/add-members",
        **who,
        requestedByAgentId="ada",
        targetExternalNumber=fourth.address,
    )
    await parties.expect_audio(
        customer="target fourth", target="customer fourth", fourth="customer target"
    )
    shown = await ask("conference/members", callId=call)
    assert shown["conferenceSessionId"] == added["conferenceSessionId"]

    coach = await parties.leg("fourth")
    coaching = {"callId": call, "conferenceSessionId": added["conferenceSessionId"]}
    await ask(
        "conference/coach", **coaching, channelId=coach, coachedChannelId=who["sourceChannelId"]
    )
    await parties.expect_audio(
        customer="target", target="customer fourth", fourth="customer target"
    )

    await ask("hangup", callId=call)
    for phone in (customer, target, fourth):
        await phone.wait_ended()
    await parties.lab.wait_ended(call)
    shown = await api.request("GET", f"{BASE}/call-details/{call}", token=token)
    assert shown["status"] == "completed"


async def test_a_recording_is_controlled_over_rest(api: Api, parties: Parties, lab: Lab) -> None:
    """It has what was said between start and stop, and silence while it was paused."""
    token = await api.token()
    customer, source = await parties.add_phone("customer"), await parties.add_phone("source")
    action = {"type": "dial", "data": {"number": source.address}}
    request = {"from": NUMBER, "to": customer.address, "action": action}
    started = await api.request("POST", f"{BASE}/call", request, token=token)
    call = parties.call = started["callId"]
    await parties.expect_audio(customer="source", source="customer")
    for operation, state in (
        ("start", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("stop", "ended"),
    ):
        path = f"{BASE}/call/{call}/recording/{operation}"
        shown = await api.request("POST", path, {}, token=token)
        assert [each["state"] for each in shown["recordings"]] == [state]
        await parties.expect_audio_for(1_000, {"customer": "source", "source": "customer"})
    await customer.hang_up()
    found = await wait_for_recording(lab, call)
    for side, name in ((LEFT, "customer"), (RIGHT, "source")):
        first, second = found.spans(side, TONES_HZ[name])
        assert second[0] - first[1] >= PAUSED_MS
    shown = await api.request("GET", f"{BASE}/call/{call}/timeline", token=token)
    wanted = [each["text"] for each in shown["rows"] if each["text"].startswith("request: ")]
    actions = ("start", "pause", "resume", "stop")
    assert wanted == [f"request: {action} recording" for action in actions]


async def test_the_source_is_called_first(api: Api, parties: Parties) -> None:
    """Click-to-call where `from` is not a number of the account, so it is called first."""
    source, customer = await parties.add_phone("source"), await parties.add_phone("customer")
    token = await api.token()
    request = {"from": source.address, "to": customer.address}
    parties.call = (await api.request("POST", f"{BASE}/call", request, token=token))["callId"]
    await parties.expect_audio(customer="source", source="customer")
    await parties.hang_up()


async def test_an_unavailable_engine_is_reported_as_503(api: Api, lab: Lab) -> None:
    """Requests get 503 while the engine is down, and the layer recovers with the engine."""
    token = await api.token()
    await lab.engine.kill()
    with pytest.raises(RequestError) as refused:
        await api.request("GET", f"{BASE}/call-details/0-pbx1-00000000", token=token)
    assert (refused.value.status, refused.value.problem["code"]) == (503, "no_engine")

    async def is_unready() -> bool:  # what readyz says holds for a second
        return not await api.is_ready()

    await until(is_unready, what="the REST layer to miss its engine")
    await lab.ensure_running()
    await until(api.is_ready, what="the REST layer to be ready again")
