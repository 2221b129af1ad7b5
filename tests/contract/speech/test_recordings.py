"""Recordings, which are transcribed as fast as they are decoded, apart from live streams."""

from tests.contract.speech.voices import Voices, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import GatewayStream, stream

MINUTE_MS = 60_000
HINTS = ["billing", "human agent"]


async def finals_of(opened: GatewayStream, *audio: bytes) -> list[dict[str, object]]:
    """Send a recording; return the transcripts of its utterances."""
    await opened.send_audio(*audio)
    await opened.send({"type": "stop"})
    assert await opened.expect_close() == 1000
    return [each for each in opened.received if each["type"] == "final"]


def minutes(count: int) -> bytes:
    return (silence(30_000) * 2) * count


async def test_a_long_recording(speech: SpeechProcess, voices: Voices) -> None:
    """It takes less time than it is long, and the times are those in the recording."""
    first, second = await voices.say("billing"), await voices.say("human agent")
    async with stream(speech, live=False, hints=HINTS) as opened:
        found = await finals_of(opened, minutes(10), first, minutes(10), second, minutes(1))
    assert [each["text"] for each in found] == HINTS
    starts_ms = [each["startMs"] for each in found]
    seconds_ms = 20 * MINUTE_MS + len(first) // 16
    for start_ms, expected_ms in zip(starts_ms, (10 * MINUTE_MS, seconds_ms), strict=True):
        assert isinstance(start_ms, int)
        assert abs(start_ms - expected_ms) < 200


async def test_live_streams_have_their_own_capacity(speech: SpeechProcess, voices: Voices) -> None:
    """A recording too many is rejected, whatever is free for callers, and these are not."""
    async with stream(speech, live=False, hints=HINTS) as first:
        await first.expect("ready")
        async with stream(speech, live=False, hints=HINTS) as second:
            assert (await second.expect("error"))["code"] == "overloaded"
            assert await second.expect_close() == 1013
        async with stream(speech, hints=HINTS, silenceMs=300) as live:
            await live.send_audio(silence(300), await voices.say("billing"), silence(400))
            assert (await live.expect("final"))["text"] == "billing"
        assert len(await finals_of(first, silence(300), await voices.say("billing"))) == 1
    async with stream(speech, live=False, hints=HINTS) as third:
        await third.expect("ready")
        assert await finals_of(third) == []


async def test_sentences(whisper: SpeechProcess, voices: Voices) -> None:
    """Whisper's utterances follow one another; none is lost."""
    texts = ("i would like to talk to billing", "yes please", "thank you very much")
    audio = [silence(2_000)]
    for text in texts:
        audio += [await voices.say(text), silence(2_000)]
    async with stream(whisper, "whisper", live=False) as opened:
        found = await finals_of(opened, *audio)
    heard = [str(each["text"]).lower() for each in found]
    assert len(heard) == len(texts), heard
    for text, words in zip(heard, ("billing", "yes", "thank you"), strict=True):
        assert words in text
