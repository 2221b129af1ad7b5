"""Who ended a call, and why, with real phones and a real PBX."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, status
from tests.harness.live_lab import Lab, open_lab
from tests.harness.pbx.asterisk import SHORT_RTP_TIMEOUT_S
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.until import until


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[Lab]:
    """Run servers whose PBX soon misses a phone's RTP."""
    async with open_lab(tmp_path, rtp_timeout_s=SHORT_RTP_TIMEOUT_S) as lab:
        yield lab


async def completed(lab: Lab, **fields: str) -> dict[str, Any]:
    """Wait for the last event of the call with these fields, and return it."""
    found: list[dict[str, Any]] = []

    async def is_there() -> bool:
        batch = await lab.engine.rpc("GET", "/events?group=endings&consumer=test&wait=1&limit=200")
        ids = [each["id"] for each in batch["events"]]
        if ids:
            await lab.engine.rpc("POST", "/events/ack", {"group": "endings", "ids": ids})
        events = (each["event"] for each in batch["events"])
        found.extend(e for e in events if e["event"] == "completed" and fields.items() <= e.items())
        return bool(found)

    await until(is_there, what=f"the end of {fields}")
    return found[0]


async def test_the_called_agent_hangs_up(lab: Lab) -> None:
    """Both the call and both legs were ended by the callee."""
    async with Phone.answering(free_port(), tone_hz=600) as agent:
        number = await lab.add_number({"type": "dial", "data": {"number": agent.address}})
        async with Phone.calling(lab.pbx, number) as caller:
            await caller.until_hears(600)
            call = await lab.wait_for_call()
            await agent.hang_up()
            await caller.wait_ended()
    end = await completed(lab, callId=call)
    assert (end["endedBy"], end["hangupCause"], end["callStatus"]) == ("callee", 16, "completed")
    assert [leg["endedBy"] for leg in end["record"]["legs"]] == ["callee", "callee"]
    assert end["endedByChannelId"] == end["record"]["legs"][1]["channelId"]


@pytest.mark.parametrize("who", ["caller", "agent"])
async def test_a_phone_is_gone(impatient: Lab, who: str) -> None:
    """Without RTP the cause is 44, the reason `media_timeout`, and no party has hung up."""
    lab = impatient
    async with Phone.answering(free_port(), tone_hz=600) as agent:
        number = await lab.add_number({"type": "dial", "data": {"number": agent.address}})
        async with Phone.calling(lab.pbx, number, tone_hz=800) as caller:
            await caller.until_hears(600)
            call = await lab.wait_for_call()
            (caller if who == "caller" else agent).stop_sending()
            end = await completed(lab, callId=call)
    assert (end["endedBy"], end["hangupCause"], end["reason"]) == ("system", 44, "media_timeout")
    gone = [leg for leg in end["record"]["legs"] if leg.get("reason") == "media_timeout"]
    assert [leg["channelId"] for leg in gone] == [end["endedByChannelId"]]


async def test_the_route_of_a_number_fails(lab: Lab, hooks: WebhookServer) -> None:
    """Its call is failed by the system, not completed by the action."""
    number = await lab.add_number(hooks.answers("/broken", status(500)))
    async with Phone.calling(lab.pbx, number) as caller:
        await caller.wait_ended()
    end = await completed(lab, to=number)
    assert (end["endedBy"], end["callStatus"]) == ("system", "failed")
    assert end["reason"] == "action_failed:status_500"


async def test_the_fallback_of_a_route(lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
    """If the webhook of a number fails, its static fallback runs."""
    fallback = {"type": "play", "data": {"audioUrl": sounds.tone(600, 60_000)}}
    number = await lab.add_number(hooks.answers("/broken", status(500)), fallback=fallback)
    async with Phone.calling(lab.pbx, number) as caller:
        await caller.until_hears(600)
        await caller.hang_up()
    end = await completed(lab, to=number)
    assert (end["endedBy"], end["callStatus"]) == ("caller", "completed")


async def test_a_party_without_a_contact(lab: Lab) -> None:
    """No party was called, so the call was not ended by a callee."""
    call = await lab.call(to="agent:1009")
    end = await completed(lab, callId=call)
    assert (end["endedBy"], end["callStatus"], end["reason"]) == ("system", "failed", "unavailable")
    assert end["record"]["dialedNumbers"] == []


async def test_talk_time_without_a_conversation(lab: Lab) -> None:
    """A caller who only heard ringing has no talk time, although the engine answered."""
    async with Phone.ringing(free_port()) as agent:
        number = await lab.add_number({"type": "dial", "data": {"number": agent.address}})
        async with Phone.calling(lab.pbx, number) as caller:
            await agent.wait_ringing()
            call = await lab.wait_for_call()
            await caller.hang_up()
            await agent.wait_ended()
    record = (await completed(lab, callId=call))["record"]
    assert record["talkMs"] == 0
    assert record["waitMs"] > 0
