"""play and say on real audio: content, order and length."""

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone

EDGE_MS = 40  # frames that hold two sounds


async def test_an_audio_address_is_played_in_full(lab: Lab, sounds: MediaServer) -> None:
    """The called phone hears the whole sound and is hung up after it."""
    async with Phone.answering(lab.trunk_port) as phone:
        action = {"type": "play", "data": {"audioUrl": sounds.tone(600, 1000)}}
        call = await lab.call(to="+15550100", action=action)
        await phone.wait_ended()
        assert [heard.length_ms for heard in phone.tones_heard(600)] == approx([1000], abs=EDGE_MS)
        assert (await lab.wait_ended(call))["status"] == "completed"


async def test_a_list_is_played_in_order(lab: Lab, sounds: MediaServer) -> None:
    """Several addresses play one after another, each in full."""
    urls = [sounds.tone(600, 500), sounds.tone(700, 300), sounds.tone(600, 200)]
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action={"type": "play", "data": {"audioUrl": urls}})
        await phone.wait_ended()
    heard = phone.tones_heard(600, 700)
    assert [each.hz for each in heard] == [600, 700, 600]
    assert [each.length_ms for each in heard] == approx([500, 300, 200], abs=EDGE_MS)


@pytest.mark.parametrize("loop", [3, 11])
async def test_a_list_is_repeated(lab: Lab, sounds: MediaServer, loop: int) -> None:
    """All of it plays `loop` times; more than ten rounds of two sounds are two playbacks."""
    data = {"audioUrl": [sounds.tone(600, 200), sounds.tone(700, 200)], "loop": loop}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action={"type": "play", "data": data})
        await phone.wait_ended()
    heard = phone.tones_heard(600, 700)
    assert [each.hz for each in heard] == [600, 700] * loop
    assert [each.length_ms for each in heard] == approx([200, 200] * loop, abs=EDGE_MS)
    assert (await lab.wait_ended(call))["status"] == "completed"


@pytest.mark.parametrize(("language", "text"), [("en", "Hello there."), ("de", "Guten Tag.")])
async def test_a_text_is_spoken(lab: Lab, language: str, text: str) -> None:
    """A text is spoken in the given language, with at least half a second of speech."""
    action = {"type": "say", "data": {"text": text, "language": language}}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await phone.wait_ended()
    assert sum(heard.length_ms for heard in phone.sound_spans()) >= 500
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_play_waits_for_slow_audio(lab: Lab, sounds: MediaServer) -> None:
    """A late sound plays late and in full; nothing plays before it."""
    action = {"type": "play", "data": {"audioUrl": sounds.slow_tone(600, 300, after_ms=500)}}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.wait_ended()
    assert [heard.length_ms for heard in phone.sound_spans()] == approx([300], abs=EDGE_MS)


async def test_each_verb_continues_with_its_action(
    lab: Lab, sounds: MediaServer, hooks: WebhookServer
) -> None:
    """After play, say and gather the webhook gets the verb, the call id and customData."""
    gather = {"type": "gather", "data": {"timeout": 100}, "action": hooks.answers("/3", None)}
    say = {"type": "say", "data": {"text": "Hello."}, "action": hooks.answers("/2", gather)}
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 200)}}
    async with Phone.answering(lab.trunk_port) as phone:
        action = {**play, "action": hooks.answers("/1", say)}
        call = await lab.call(
            to="+15550100", action=hooks.answers("/0", action), customData={"order": 7}
        )
        await phone.wait_ended()
    assert [request.body["event"] for request in hooks.requests] == [
        "start",
        "play",
        "say",
        "gather",
    ]
    assert all(request.body["callId"] == call for request in hooks.requests)
    assert all(request.body["customData"] == {"order": 7} for request in hooks.requests)
