"""Speech in gather while engines, gateways and recognizers are killed."""

from functools import partial
from typing import Literal

import pytest

from tests.harness.bots.speech import spoken
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import FRAME_MS, assert_sweep_heard_once
from tests.harness.phones.phone import Phone
from tests.harness.until import until
from tests.live.speech.test_spoken_gather import (
    HINTS,
    LASTS_MS,
    spoken_gather,
    until_connected,
    until_swept,
)

PROMPT_MS = 5_000


@pytest.mark.parametrize("leave", ["kill", "stop"])
async def test_what_is_said_while_no_engine_is_there(
    lab: Lab, hooks: WebhookServer, leave: Literal["kill", "stop"]
) -> None:
    """The recognizer hears on, and the next engine learns what it has understood."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=spoken_gather(hooks, timeout=LASTS_MS))
        await until_connected(lab, call)
        await (lab.engine.kill() if leave == "kill" else lab.engine.stop())
        await phone.say(await spoken("support"))
        await lab.engine.start()
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["speech"]) == ("speech", "support")
    assert len(hooks.requests_to("/result")) == 1


async def test_what_is_said_before_engine_and_recognizer_are_gone(
    lab: Lab, hooks: WebhookServer
) -> None:
    """The gateway keeps the transcript of the stream that has ended."""
    assert lab.speech is not None
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=spoken_gather(hooks, timeout=LASTS_MS))
        await until_connected(lab, call)
        before = await transcripts(lab)
        await lab.engine.kill()
        await phone.say(await spoken("support"))
        await until(partial(has_more, lab, before), what="the transcript")
        await lab.speech.kill()
        await lab.engine.start()
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["speech"]) == ("speech", "support")


@pytest.mark.parametrize("what", ["gateway", "recognizer"])
async def test_a_process_is_killed(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer, what: str
) -> None:
    """The prompt goes on unheard of that, and what is said next is understood."""
    action = spoken_gather(hooks, audioUrl=sounds.sweep(PROMPT_MS), timeout=LASTS_MS)
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await until_connected(lab, call)
        assert lab.speech is not None
        for server in lab.gateways if what == "gateway" else (lab.speech,):
            await server.kill()
            await server.start()
        await until_connected(lab, call, times=2)
        await until_swept(phone, PROMPT_MS - 2 * FRAME_MS)
        await phone.say(await spoken("billing"))
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["speech"]) == ("speech", "billing")
    assert_sweep_heard_once(phone.frames, PROMPT_MS)


async def test_without_recognizers_digits_count(lab: Lab, hooks: WebhookServer) -> None:
    """The webhook learns why there is no speech; speech alone fails at once."""
    assert lab.speech is not None
    await lab.speech.kill()  # it is tried again for seven seconds
    async with Phone.answering(lab.trunk_port) as phone:
        action = spoken_gather(hooks, maxDigits=1, timeout=LASTS_MS)
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_event(call, "stream-ended", times=6)
        await phone.press("2")
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
    assert (result["reason"], result["dtmf"]) == ("max-digits", "2")
    assert result["recognizerError"]
    async with Phone.answering(lab.trunk_port) as phone:
        action = spoken_gather(hooks, input=["speech"], timeout=LASTS_MS)
        await lab.call(to="+15550100", action=action)
        result = (await hooks.wait_for_request("/result", 2)).body
        await phone.wait_ended()
    assert result["reason"] == "recognizer-failed"


async def test_a_word_that_the_recognizer_does_not_know(lab: Lab, hooks: WebhookServer) -> None:
    """The error names it, and nothing is tried again."""
    hints = [*HINTS, "Xyzzq"]
    async with Phone.answering(lab.trunk_port) as phone:
        action = spoken_gather(hooks, input=["speech"], hints=hints, timeout=LASTS_MS)
        call = await lab.call(to="+15550100", action=action)
        result = (await hooks.wait_for_request("/result")).body
        await phone.wait_ended()
        events = [each["type"] for each in await lab.timeline_events(call)]
    assert result["reason"] == "recognizer-failed"
    assert "xyzzq" in result["recognizerError"]
    assert events.count("stream-ended") == 1


async def transcripts(lab: Lab) -> float:
    """Return how many utterances all gateways have had so far."""
    return sum([await each.total_of("switchroom_stream_utterances_total") for each in lab.gateways])


async def has_more(lab: Lab, before: float) -> bool:
    """Return whether a gateway has had one more."""
    return await transcripts(lab) > before
