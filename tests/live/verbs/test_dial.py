"""dial on real calls: who is called, who hears what, and what is reported."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

import numpy as np
import pytest

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import Frame, level
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.ports import free_port
from tests.harness.until import until

RING_HZ = (440, 480)
EDGE_MS = 100  # frames on their way at the end
WINDOW = 5  # frames: 100 ms, whole periods of the ring tone


async def test_a_number_is_bridged(lab: Lab, hooks: WebhookServer) -> None:
    """The caller hears ringing, then both hear each other; the end is reported to the action.

    The called phone shows data.callerId.
    """
    async with (
        Phone.answering(lab.trunk_port, tone_hz=600, after_ms=NEVER_MS) as far,
        Phone.calling(lab.pbx, await _route_dial(lab, hooks, "+4722222222"), tone_hz=400) as caller,
    ):
        await until(lambda: _hears_ringing(caller), what="the ring tone")
        await far.pick_up()
        await caller.until_hears(600)
        await far.until_hears(400)
        await until(lambda: not _hears_ringing(caller), what="the end of the ring tone")
        assert far.caller_id == "4721930000"
        await far.hang_up()
        result = (await hooks.wait_for_request("/after")).body
        await caller.wait_ended()
    assert (result["event"], result["dial"]["status"]) == ("dial", "completed")
    assert result["dial"]["number"] == "+4722222222"
    assert result["customData"] == {"order": 7}


async def test_an_agent_is_bridged(lab: Lab, hooks: WebhookServer) -> None:
    """An agent's registered phone is called by agent_id; the action gets reference_id."""
    data = {"agent_id": "1001", "reference_id": "crm-5"}
    async with (
        Phone.agent(lab.pbx, "1001", tone_hz=600) as far,
        Phone.calling(lab.pbx, await _route_dial(lab, hooks, data=data), tone_hz=400) as caller,
    ):
        await caller.until_hears(600)
        await far.until_hears(400)
        await far.hang_up()
        result = (await hooks.wait_for_request("/after")).body["dial"]
    assert (result["agent_id"], result["reference_id"]) == ("1001", "crm-5")


async def test_an_agent_without_a_phone_fails(lab: Lab, hooks: WebhookServer) -> None:
    """A dial to an unregistered agent fails at once."""
    number = await _route_dial(lab, hooks, data={"agent_id": "1009"})
    async with Phone.calling(lab.pbx, number):
        result = (await hooks.wait_for_request("/after")).body["dial"]
    assert result["status"] == "failed"


async def test_the_first_to_answer_wins(lab: Lab, hooks: WebhookServer) -> None:
    """Of several ringing numbers the first to answer is bridged; the others are canceled."""
    async with AsyncExitStack() as phones:
        slow = await phones.enter_async_context(Phone.ringing(free_port()))
        quick = await phones.enter_async_context(
            Phone.answering(free_port(), tone_hz=600, after_ms=400)
        )
        busy = await phones.enter_async_context(Phone.refusing(free_port(), 486))
        number = await _route_dial(lab, hooks, [slow.address, quick.address, busy.address])
        caller = await phones.enter_async_context(Phone.calling(lab.pbx, number, tone_hz=400))
        await caller.until_hears(600)
        await quick.until_hears(400)
        await slow.wait_ended()
        assert slow.status == 487
        await caller.hang_up()
        await quick.wait_ended()


@pytest.mark.parametrize(
    ("status", "result"),
    [(486, "busy"), (600, "busy"), (480, "no-answer"), (603, "failed"), (503, "failed")],
)
async def test_a_refusal_is_reported_to_the_action(
    lab: Lab, hooks: WebhookServer, status: int, result: str
) -> None:
    """The nested action gets the status for each SIP refusal."""
    async with (
        Phone.refusing(free_port(), status) as far,
        Phone.calling(lab.pbx, await _route_dial(lab, hooks, far.address)) as caller,
    ):
        request = await hooks.wait_for_request("/after")
        await caller.wait_ended()
    assert request.body["dial"]["status"] == result


async def test_an_unanswered_dial_is_canceled_at_the_timeout(
    lab: Lab, hooks: WebhookServer
) -> None:
    """The verb's timeout, in seconds, cancels the ringing phone: no-answer."""
    async with Phone.ringing(free_port()) as far:
        number = await _route_dial(lab, hooks, far.address, timeout=1)
        async with Phone.calling(lab.pbx, number) as caller:
            request = await hooks.wait_for_request("/after")
            await far.wait_ended()
            await caller.wait_ended()
    ended = await lab.engine.wait_for_event(request.body["callId"], "completed")
    assert far.status == 487
    assert request.body["dial"]["status"] == "no-answer"
    assert ended["record"]["legs"][-1]["ringMs"] >= 1_000


async def test_music_instead_of_ringing(lab: Lab, hooks: WebhookServer) -> None:
    """With moh.enable the caller hears music instead of ringing; once bridged, only the other."""
    async with Phone.answering(free_port(), tone_hz=600, after_ms=NEVER_MS) as far:
        number = await _route_dial(lab, hooks, far.address, moh={"enable": True})
        async with Phone.calling(lab.pbx, number, tone_hz=400) as caller:
            await until(lambda: bool(caller.sound_spans()), what="music")
            assert not _hears_ringing(caller)
            await far.pick_up()
            await caller.until_hears(600)
            await far.until_hears(400)
            await until(lambda: _hears_only(caller, 600), what="the music's end")
            ringing_frames = [f for f in caller.frames if level(f.samples, 600) < 800]
            assert not any(
                _is_ringing(ringing_frames[i : i + WINDOW])
                for i in range(0, len(ringing_frames), WINDOW)
            )
            await caller.hang_up()
            await far.wait_ended()


async def test_the_time_limit_ends_the_conversation(lab: Lab, hooks: WebhookServer) -> None:
    """After data.timeLimit seconds the called party is hung up and the action runs."""
    async with Phone.answering(free_port(), tone_hz=600) as far:
        number = await _route_dial(lab, hooks, data={"number": far.address, "timeLimit": 3})
        async with Phone.calling(lab.pbx, number, tone_hz=400) as caller:
            request = await hooks.wait_for_request("/after")
            await far.wait_ended()
            await caller.wait_ended()
            heard_ms = sum(each.length_ms for each in far.tones_heard(400))
    ended = await lab.engine.wait_for_event(request.body["callId"], "completed")
    talk_ms = ended["record"]["legs"][-1]["talkMs"]
    assert request.body["dial"]["status"] == "completed"
    assert talk_ms >= 3_000
    assert 1_500 <= heard_ms <= talk_ms + EDGE_MS


async def _route_dial(
    lab: Lab,
    hooks: WebhookServer,
    number: str | list[str] | None = None,
    *,
    data: Mapping[str, object] | None = None,
    **more: object,
) -> str:
    """Route a number to a dial; its action is /after, which ends the call."""
    data = data or {"number": number, "callerId": "4721930000"}
    dial = {"type": "dial", "data": data, "action": hooks.answers("/after", None), **more}
    return await lab.add_number(dial, customData={"order": 7})


def _hears_ringing(phone: Phone) -> bool:
    return _is_ringing(phone.frames[-WINDOW:])


def _is_ringing(frames: list[Frame]) -> bool:
    if len(frames) < WINDOW:
        return False
    sound = np.concatenate([frame.samples for frame in frames])
    return all(level(sound, hz) > 500 for hz in RING_HZ)


def _hears_only(phone: Phone, hz: int) -> bool:
    """Return whether only this tone is heard: its power is the total power."""
    recent = phone.frames[-WINDOW:]
    return all(
        level(frame.samples, hz) ** 2 / 2 > 0.98 * float((frame.samples.astype(float) ** 2).mean())
        for frame in recent
    )
