"""gather with speech on real calls: what is understood, barge-in, and digits beside it."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.harness.bots.speech import spoken
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import assert_sweep_heard_once, cough, swept_ms
from tests.harness.phones.phone import Phone
from tests.harness.until import until

HINTS = ["sales", "support", "billing"]
PROMPT_HZ = 600
PROMPT_MS, COUGHS, BETWEEN_MS = 10_000, 4, 1_000
LONG_PROMPT_MS = 60_000  # until somebody speaks
LASTS_MS = 300_000  # a gather, until somebody speaks or presses a key


def spoken_gather(hooks: WebhookServer, **data: object) -> dict[str, object]:
    """Return a verb that asks for a department."""
    gathered = {"input": ["speech", "digits"], "hints": HINTS, **data}
    return {"type": "gather", "data": gathered, "action": hooks.answers("/result", None)}


def interruptions(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what sounds of the caller did to the prompt, in order."""
    return [each["outcome"] for each in events if each["type"] == "stream-interrupted"]


async def until_connected(lab: Lab, call: str, times: int = 1) -> None:
    """Wait until a recognizer listens to a call, so many of them one after another."""
    await lab.wait_for_event(call, "stream-connected", times)


async def until_swept(phone: Phone, length_ms: int) -> None:
    """Wait until so much of a sweep was heard."""
    await until(lambda: swept_ms(phone.frames) >= length_ms, what=f"{length_ms} ms of the prompt")


async def test_the_webhook_gets_what_was_said(lab: Lab, hooks: WebhookServer) -> None:
    """With the confidence; the event, the record and the timeline have it, too."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=spoken_gather(hooks, timeout=LASTS_MS))
        await until_connected(lab, call)
        await phone.say(await spoken("support"))
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert result["reason"] == "speech", result
    assert (result["speech"], result["dtmf"]) == ("support", "")
    assert 0.5 <= result["confidence"] <= 1
    gathered = await lab.engine.wait_for_event(call, "gathered")
    assert (gathered["speech"], gathered["reason"]) == ("support", "speech")
    (recorded,) = (await lab.engine.wait_for_event(call, "completed"))["record"]["gathered"]
    assert recorded["speech"] == "support"
    events = [each["type"] for each in await lab.timeline_events(call)]
    assert "speech-understood" in events


async def test_speech_ends_the_prompt(lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
    """It pauses at the first sound, and is not heard again."""
    action = spoken_gather(hooks, audioUrl=sounds.tone(PROMPT_HZ, LONG_PROMPT_MS), timeout=LASTS_MS)
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await until_connected(lab, call)
        await phone.until_hears(PROMPT_HZ)
        await phone.say(await spoken("billing please"))
        request = await hooks.wait_for_request("/result")
        await phone.wait_ended()
        outcomes = interruptions(await lab.timeline_events(call))
    assert (request.body["reason"], request.body["speech"]) == ("speech", "billing")
    (heard,) = phone.tones_heard(PROMPT_HZ)
    assert heard.end_ms < request.at_ms
    assert outcomes == ["paused", "flushed"]


async def test_a_cough_pauses_the_prompt(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """It continues where it stopped: nothing of it is lost, and nothing is heard twice."""
    action = spoken_gather(hooks, audioUrl=sounds.sweep(PROMPT_MS), timeout=500)
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await until_connected(lab, call)
        for number in range(1, COUGHS + 1):
            await until_swept(phone, number * BETWEEN_MS)
            await phone.say(cough())
            await lab.wait_for_event(call, "stream-interrupted", 2 * number)
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
        events = await lab.timeline_events(call)
    assert result["reason"] == "timeout"
    assert interruptions(events) == ["paused", "resumed"] * COUGHS
    assert_sweep_heard_once(phone.frames, PROMPT_MS)


async def test_a_digit_is_faster(lab: Lab, hooks: WebhookServer) -> None:
    async with Phone.answering(lab.trunk_port) as phone:
        action = spoken_gather(hooks, maxDigits=1, timeout=LASTS_MS)
        call = await lab.call(to="+15550100", action=action)
        await until_connected(lab, call)
        await phone.press("2")
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["dtmf"]) == ("max-digits", "2")
    assert "speech" not in result
