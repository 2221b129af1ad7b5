"""gather with speech on real calls: what is understood, barge-in, and digits beside it."""

from tests.harness.bots.speech import spoken
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import FRAME_MS, cough, is_sound, skips_ms
from tests.harness.phones.phone import Phone

HINTS = ["sales", "support", "billing"]
PROMPT_HZ = 600
PROMPT_MS, COUGHS = 5_000, 4
STOPPED_MS = 300  # `make bench` measures


def spoken_gather(hooks: WebhookServer, **data: object) -> dict[str, object]:
    """Return a verb that asks for a department."""
    gathered = {"input": ["speech", "digits"], "hints": HINTS, **data}
    return {"type": "gather", "data": gathered, "action": hooks.answers("/result", None)}


async def test_the_webhook_gets_what_was_said(lab: Lab, hooks: WebhookServer) -> None:
    """With the confidence; the event, the record and the timeline have it, too."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=spoken_gather(hooks))
        await phone.wait_answered()
        await phone.wait_spoken(500)
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
    action = spoken_gather(hooks, audioUrl=sounds.tone(PROMPT_HZ, 8_000))
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.until_hears(PROMPT_HZ)
        await phone.wait_spoken(500)
        said = await phone.say(await spoken("billing please"))
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["speech"]) == ("speech", "billing")
    (heard,) = phone.tones_heard(PROMPT_HZ)
    assert heard.end_ms - said.start_ms < STOPPED_MS


async def test_a_cough_pauses_the_prompt(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """It continues where it stopped: nothing of it is lost, and nothing is heard twice."""
    action = spoken_gather(hooks, audioUrl=sounds.sweep(PROMPT_MS), timeout=500)
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.wait_spoken(1_000)
        for _ in range(COUGHS):
            await phone.say(cough())
            await phone.wait_spoken(700)
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
        events = await lab.timeline_events(call)
    assert result["reason"] == "timeout"
    sounds_heard = [each["outcome"] for each in events if each["type"] == "stream-interrupted"]
    assert sounds_heard == ["paused", "resumed"] * COUGHS
    assert max(map(abs, skips_ms(phone.frames))) < FRAME_MS / 2
    heard = sum(is_sound(each.samples) for each in phone.frames)
    assert abs(heard * FRAME_MS - PROMPT_MS) <= 2 * FRAME_MS


async def test_a_digit_is_faster(lab: Lab, hooks: WebhookServer) -> None:
    async with Phone.answering(lab.trunk_port) as phone:
        action = spoken_gather(hooks, maxDigits=1)
        await lab.call(to="+15550100", action=action)
        await phone.wait_answered()
        await phone.wait_spoken(500)
        await phone.press("2")
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["dtmf"]) == ("max-digits", "2")
    assert "speech" not in result
