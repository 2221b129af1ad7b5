"""Recordings of real calls: who is on which side, and pauses."""

from collections.abc import Mapping
from typing import Any

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.live_lab import Lab
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.phones.phone import Phone
from tests.harness.phones.recorded_calls import (
    CALLEE_HZ,
    CALLER_HZ,
    recorded_call,
    wait_for_recording,
    wait_until_heard,
)
from tests.harness.phones.recording_file import LEFT, RIGHT, STEP_MS
from tests.harness.phones.sessions import Conference, Transfer
from tests.harness.servers.engine import RequestError

MISSED_MS = 600  # of a tone, at its edges on a busy machine


async def test_both_sides_are_recorded_separately(lab: Lab) -> None:
    """The caller is on the left, what it hears on the right; the event has the length."""
    async with recorded_call(lab) as (call, caller, _far):
        await caller.hang_up()
        found = await wait_for_recording(lab, call)
    result = await lab.engine.wait_for_event(call, "completed")
    assert found.channels == 2
    assert found.heard_ms(LEFT, CALLER_HZ) >= found.length_ms - MISSED_MS
    assert found.heard_ms(LEFT, CALLEE_HZ) == 0
    assert found.heard_ms(RIGHT, CALLEE_HZ) >= 500
    assert found.heard_ms(RIGHT, CALLER_HZ) == 0
    assert found.spans(RIGHT, 440)[0][0] <= MISSED_MS, (
        "the recording starts at the answer, while it rings"
    )
    assert found.length_ms == approx(result["recordingDuration"] * 1000, abs=500)


async def test_an_outbound_call_is_recorded(lab: Lab) -> None:
    """With recordCall as an object; the called party is on the left."""
    async with Phone.answering(lab.trunk_port, tone_hz=CALLEE_HZ) as far:
        action = {"type": "say", "data": {"text": "Press any key."}}
        call = await lab.call(to="+4722222222", action=action, recordCall={"enable": True})
        await far.wait_ended()
        found = await wait_for_recording(lab, call)
    assert found.heard_ms(LEFT, CALLEE_HZ) >= found.length_ms - MISSED_MS
    assert found.sides[RIGHT].any(), "audio sent to the leg"


async def test_a_pause_is_silence(lab: Lab) -> None:
    """Both sides are silent during a pause; the time axis continues."""
    async with recorded_call(lab) as (call, caller, far):
        recording = f"/calls/{call}/recording"
        before_ms = far.heard_ms(CALLER_HZ)
        view = await lab.engine.rpc("POST", f"{recording}/pause", {})
        assert [each["state"] for each in view["recordings"]] == ["paused"]
        await wait_until_heard(far, CALLER_HZ, 1_000)
        await lab.engine.rpc("POST", f"{recording}/resume", {})
        paused_ms = far.heard_ms(CALLER_HZ) - before_ms
        await wait_until_heard(far, CALLER_HZ)
        await caller.hang_up()
        found = await wait_for_recording(lab, call)
    spoken = found.spans(LEFT, CALLER_HZ)
    assert len(spoken) == 2
    assert 700 <= spoken[1][0] - spoken[0][1] <= paused_ms + MISSED_MS
    during = slice((spoken[0][1] + STEP_MS) * 8, (spoken[1][0] - STEP_MS) * 8)
    assert not found.sides[LEFT][during].any()
    assert not found.sides[RIGHT][during].any()


async def test_a_recording_is_started_and_stopped(lab: Lab) -> None:
    """Recording starts and stops during a call; the gap is silence."""
    async with recorded_call(lab, recordCall=False) as (call, caller, far):
        recording = f"/calls/{call}/recording"
        heard_ms: list[int] = []
        for operation in ("start", "stop", "start"):
            heard_ms.append(far.heard_ms(CALLER_HZ))
            await lab.engine.rpc("POST", f"{recording}/{operation}", {})
            await wait_until_heard(far, CALLER_HZ, 900)
        await caller.hang_up()
        found = await wait_for_recording(lab, call)
    first, second = found.spans(LEFT, CALLER_HZ)
    assert 600 <= second[0] - first[1] <= heard_ms[2] - heard_ms[1] + MISSED_MS
    assert found.heard_ms(RIGHT, 440) == 0, "it no longer rings"


async def test_a_transfer_is_recorded_to_its_end(parties: Parties, lab: Lab) -> None:
    """After the transfer the recording continues on the remaining leg."""
    source, target = await parties.add_phone("source"), await parties.add_phone("target")
    customer = await parties.add_phone("customer")
    action = {"type": "dial", "data": {"number": customer.address}}
    parties.call = await lab.call(to=source.address, action=action, recordCall=True)
    await parties.expect_audio(customer="source", source="customer")
    transfer = Transfer(parties)
    await transfer.start()
    await parties.expect_audio(source="target", target="source")
    await transfer.complete()
    await parties.expect_audio(customer="target", target="customer")
    await target.hang_up()
    found = await wait_for_recording(lab, parties.call)
    ends = [found.spans(LEFT, TONES_HZ[name])[-1][1] for name in ("source", "customer")]
    assert ends[0] <= ends[1] == approx(found.length_ms, abs=300)
    assert found.heard_ms(RIGHT, TONES_HZ["target"]) >= 500
    assert found.spans(RIGHT, TONES_HZ["target"])[-1][1] > ends[0]


async def test_each_party_of_a_call_is_recorded(parties: Parties, lab: Lab) -> None:
    """Also a second party whose packets have lower numbers than those of the first one."""
    first, second = await parties.add_phone("target"), await parties.add_phone("source")
    then = {"type": "dial", "data": {"number": second.address}}
    action = {"type": "dial", "data": {"number": first.address}, "action": then}
    customer = await parties.call_in(await lab.add_number(action, recordCall=True))
    await parties.expect_audio(customer="target", target="customer")
    await first.hang_up()
    await parties.expect_audio_for(1_000, {"customer": "source", "source": "customer"})
    await customer.hang_up()
    found = await wait_for_recording(lab, parties.call)
    assert found.heard_ms(RIGHT, TONES_HZ["target"]) >= 200
    assert found.heard_ms(RIGHT, TONES_HZ["source"]) >= 800
    assert found.heard_ms(LEFT, TONES_HZ["customer"]) >= found.length_ms - MISSED_MS


@pytest.mark.parametrize("name", ["song", "source"], ids=["low numbers", "high numbers"])
async def test_a_party_of_a_conference_is_recorded(parties: Parties, lab: Lab, name: str) -> None:
    """Before it, in it and after it: the packets of the mix have number 0."""
    party = await parties.add_phone(name)
    target = await parties.add_phone("target")
    action = {"type": "dial", "data": {"number": party.address}}
    customer = await parties.call_in(await lab.add_number(action, recordCall=True))
    await parties.expect_audio_for(1_000, {"customer": name, name: "customer"})
    await Conference(parties).add("target")
    await parties.expect_audio_for(1_000, {"customer": f"{name} target"})
    await target.hang_up()
    await parties.expect_audio_for(2_000, {"customer": name, name: "customer"})
    await customer.hang_up()
    found = await wait_for_recording(lab, parties.call)
    assert found.heard_ms(RIGHT, TONES_HZ["target"]) >= 800
    assert found.heard_ms(RIGHT, TONES_HZ[name]) >= found.length_ms - 2 * MISSED_MS


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [("pause", 409, "not_recorded"), ("stop", 409, "not_recorded"), ("erase", 404, "not_found")],
)
async def test_an_impossible_recording_action_is_refused(
    lab: Lab, path: str, status: int, code: str
) -> None:
    """Pause and stop need a recording; an unknown action gets 404."""
    async with recorded_call(lab, recordCall=False) as (call, caller, _far):
        with pytest.raises(RequestError) as refused:
            await lab.engine.rpc("POST", f"/calls/{call}/recording/{path}", {})
        await caller.hang_up()
    assert (refused.value.status, refused.value.problem["code"]) == (status, code)
    view: Mapping[str, Any] = await lab.wait_ended(call)
    assert "recordings" not in view
