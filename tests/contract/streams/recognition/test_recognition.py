"""Recognition: a real gateway and real recognizers, between a simulated PBX and an engine."""

import numpy as np
import pytest

from tests.contract.speech.voices import Voices, espeak_says, silence
from tests.contract.streams.recognition.conftest import Listening, say
from tests.harness.streams.gateway import GatewayClient

MENU = ["sales", "support", "yes", "no", "$digits"]


def kinds(engine: GatewayClient, name: str) -> list[str]:
    """Return the kinds of the reports about a stream, in order."""
    return [each["type"] for each in engine.reports if each.get("stream") == name]


def cough() -> bytes:
    """Return 160 ms of noise, as loud as a voice."""
    noise = np.random.default_rng(7).normal(0, 6_000, 8 * 160) * np.hanning(8 * 160)
    return noise.astype("<i2").tobytes()


async def test_what_a_caller_says_is_reported(
    listening: Listening, engine: GatewayClient, voices: Voices
) -> None:
    """In order: connected, speech, its end, transcript; as the recognizer understood it."""
    name, channel = await listening.start(hints=MENU, silenceMs=300)
    await engine.wait_for(name, "connected")
    say(channel, silence(300), await voices.say("support"), silence(600))
    transcript = await engine.wait_for(name, "transcript")
    assert kinds(engine, name) == ["connected", "speech", "speech", "transcript"]
    assert transcript["text"] == "support"
    assert transcript["confidence"] > 0.5
    assert transcript["isVoice"] is True
    began, ended = engine.of(name, "speech")
    assert (began["isSpeaking"], ended["isSpeaking"]) == (True, False)
    assert began["atMs"] < ended["atMs"] < transcript["atMs"]


@pytest.mark.parametrize("words", ["yes", "no", "sales", "five five zero one eight"])
async def test_a_voice_is_a_voice(
    listening: Listening, engine: GatewayClient, voices: Voices, words: str
) -> None:
    """Also that of a short word."""
    name, channel = await listening.start(hints=MENU, silenceMs=300)
    say(channel, silence(300), await voices.say(words), silence(600))
    assert (await engine.wait_for(name, "transcript"))["isVoice"] is True


async def test_another_voice_is_one(listening: Listening, engine: GatewayClient) -> None:
    """A synthesizer without a neural network."""
    name, channel = await listening.start(hints=MENU, silenceMs=300)
    say(channel, silence(300), await espeak_says("yes please"), silence(600))
    assert (await engine.wait_for(name, "transcript"))["isVoice"] is True


async def test_a_cough_is_no_voice(listening: Listening, engine: GatewayClient) -> None:
    """The recognizer takes it for an utterance."""
    name, channel = await listening.start(hints=MENU, silenceMs=300)
    say(channel, silence(300), cough(), silence(600))
    assert (await engine.wait_for(name, "transcript"))["isVoice"] is False


async def test_an_unknown_recognizer(listening: Listening, engine: GatewayClient) -> None:
    """The server has no such one, and says which it has: no attempt will change that."""
    name, _ = await listening.start("nobody")
    ended = await engine.wait_for(name, "ended")
    assert (ended["reason"], ended["detail"]) == (
        "bot-closed",
        "HTTP 404: there is no recognizer nobody; the recognizers are grammar",
    )


async def test_words_without_a_pronunciation(listening: Listening, engine: GatewayClient) -> None:
    """The recognizer names them."""
    name, _ = await listening.start(hints=["xyzzy"])
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "bot-closed"
    assert ended["detail"].startswith("unknown-words: ")
    assert "xyzzy" in ended["detail"]


async def test_an_end_by_the_engine(
    listening: Listening, engine: GatewayClient, voices: Voices
) -> None:
    """In the middle of an utterance; what would have been understood counts no more."""
    name, channel = await listening.start(hints=MENU)
    say(channel, await voices.say("five five zero one eight"))
    await engine.wait_for(name, "speech")
    assert (await engine.request("DELETE", f"/streams/{name}"))[0] == 204
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "stopped"
    assert kinds(engine, name)[-1] == "ended"
    await channel.is_closed.wait()


@pytest.mark.parametrize(
    ("barge_in", "outcomes"),
    [("off", []), ("flush", ["flushed"]), ("pause", ["paused", "flushed"])],
)
async def test_speech_interrupts_a_prompt(
    listening: Listening, engine: GatewayClient, voices: Voices, barge_in: str, outcomes: list[str]
) -> None:
    """Before the recognizer knows what it is."""
    name, channel = await listening.start(barge_in=barge_in, hints=MENU, silenceMs=300)
    await engine.wait_for(name, "connected")
    say(channel, silence(300), await voices.say("support"), silence(600))
    await engine.wait_for(name, "transcript")
    assert [each["outcome"] for each in engine.of(name, "barge-in")] == outcomes


async def test_a_cough_resumes_a_prompt(listening: Listening, engine: GatewayClient) -> None:
    """Where it stopped."""
    name, channel = await listening.start(barge_in="pause", hints=MENU, silenceMs=300)
    await engine.wait_for(name, "connected")
    say(channel, silence(300), cough(), silence(600))
    await engine.wait_for(name, "transcript")
    outcomes = [each["outcome"] for each in engine.of(name, "barge-in")]
    assert outcomes == ["paused", "resumed"]
