"""Answering machine detection on real audio, and the actions that follow."""

from typing import Any

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port

WORD_MS, LONG_SPEECH_MS = 400, 3_000
PROMPT_HZ, MESSAGE_HZ = 1_300, 1_550
SPOKEN = [(WORD_MS, "human"), (LONG_SPEECH_MS, "machine"), (0, "machine")]


def _play(url: str) -> dict[str, Any]:
    return {"type": "play", "data": {"audioUrl": url}}


@pytest.mark.parametrize(("voice_ms", "who"), SPOKEN, ids=["a word", "long speech", "nothing"])
async def test_a_call_reports_who_answered(
    lab: Lab, hooks: WebhookServer, voice_ms: int, who: str
) -> None:
    """The first verb waits for the result, which its webhook and the call view contain."""
    async with Phone.answering(free_port(), tone_hz=700) as far:
        far.speak_only(voice_ms)
        action = hooks.answers("/start", None)
        call = await lab.call(to=far.address, action=action, machineDetection=True)
        result = (await hooks.wait_for_request("/start")).body
        await far.wait_ended()
    assert result["answeredBy"] == who
    assert (await lab.wait_ended(call))["answeredBy"] == who


async def test_a_machine_hears_its_own_message(lab: Lab, sounds: MediaServer) -> None:
    """An action in onMachine runs instead of the main one."""
    detection = {"onMachine": _play(sounds.tone(MESSAGE_HZ, 600))}
    async with Phone.answering(free_port(), tone_hz=700) as far:
        far.speak_only(LONG_SPEECH_MS)
        await lab.call(
            to=far.address,
            action=_play(sounds.tone(PROMPT_HZ, 600)),
            machineDetection=detection,
        )
        await far.until_heard(MESSAGE_HZ)
        await far.wait_ended()
        assert far.tones_heard(PROMPT_HZ) == []


async def test_a_machine_is_hung_up(lab: Lab, sounds: MediaServer) -> None:
    """With onMachine=hangup nothing is played, and the reason is reported."""
    async with Phone.answering(free_port(), tone_hz=700) as far:
        far.speak_only(LONG_SPEECH_MS)
        call = await lab.call(
            to=far.address,
            action=_play(sounds.tone(PROMPT_HZ, 600)),
            machineDetection={"onMachine": "hangup"},
        )
        await far.wait_ended()
        assert far.sound_spans() == []
    view = await lab.wait_ended(call)
    assert (view["status"], view["reason"]) == ("completed", "machine")
    assert view["answeredBy"] == "machine"


async def test_a_dial_continues_after_a_machine(lab: Lab, hooks: WebhookServer) -> None:
    """The machine is hung up; the person, who answers later, is connected."""
    async with (
        Phone.answering(free_port(), tone_hz=700) as machine,
        Phone.answering(free_port(), tone_hz=850, after_ms=500) as person,
    ):
        machine.speak_only(LONG_SPEECH_MS)
        person.speak_only(WORD_MS)
        data = {
            "number": [machine.address, person.address],
            "machineDetection": {"onMachine": "hangup"},
        }
        dial = {"type": "dial", "data": data, "action": hooks.answers("/after", None)}
        async with Phone.calling(lab.pbx, await lab.add_number(dial), tone_hz=600):
            await person.until_hears(600)
            await machine.wait_ended()
            await person.hang_up()
            result = (await hooks.wait_for_request("/after")).body["dial"]
        assert machine.tones_heard(600) == []
    assert (result["status"], result["answeredBy"], result["number"]) == (
        "completed",
        "human",
        person.address,
    )


async def test_a_dial_to_only_a_machine_fails(lab: Lab, hooks: WebhookServer) -> None:
    """The machine is hung up, and the nested action gets the reason."""
    async with Phone.answering(free_port(), tone_hz=700) as machine:
        machine.speak_only(LONG_SPEECH_MS)
        data = {"number": machine.address, "machineDetection": {"onMachine": "hangup"}}
        dial = {"type": "dial", "data": data, "action": hooks.answers("/after", None)}
        async with Phone.calling(lab.pbx, await lab.add_number(dial), tone_hz=600):
            result = (await hooks.wait_for_request("/after")).body["dial"]
            await machine.wait_ended()
    assert (result["status"], result["cause"], result["answeredBy"]) == ("failed", 21, "machine")


async def test_a_crash_during_detection_yields_unknown(lab: Lab, hooks: WebhookServer) -> None:
    """Audio is not analysed without an engine: the result is unknown, and the tree continues."""
    async with Phone.answering(free_port(), tone_hz=700) as far:
        action = hooks.answers("/start", None)
        call = await lab.call(
            to=far.address,
            action=action,
            machineDetection={"timeout": 30_000, "greeting": 30_000, "initialSilence": 30_000},
        )
        await lab.wait_for_state(call, "detecting")
        await lab.engine.kill()
        await lab.ensure_running()
        result = (await hooks.wait_for_request("/start")).body
        await far.wait_ended()
    assert result["answeredBy"] == "unknown"
