"""The recognizer of sentences: the real process with a real model, and rendered speech."""

from tests.contract.speech.voices import Voices, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream


async def test_a_sentence(whisper: SpeechProcess, voices: Voices) -> None:
    """Each utterance is transcribed after its end, in a process that opens no network."""
    audio = await voices.say("i would like to talk to billing")
    async with stream(whisper, "whisper", silenceMs=400, hints=["billing"]) as opened:
        await opened.expect("ready")
        await opened.send_audio(silence(300), audio, silence(500))
        final = await opened.expect("final")
        assert "like to talk to billing" in final["text"].lower()
        assert final["confidence"] > 0.4
        await opened.send_audio(await voices.say("yes please"), silence(100))
        await opened.send({"type": "stop"})
        assert "yes" in (await opened.expect("final"))["text"].lower()
        await opened.expect_close()


async def test_no_capacity(whisper: SpeechProcess) -> None:
    """A stream too many is rejected at once, and may come again later."""
    async with stream(whisper, "whisper") as first:
        await first.expect("ready")
        async with stream(whisper, "whisper") as second:
            error = await second.expect("error")
            assert error["code"] == "overloaded"
            assert await second.expect_close() == 1013
        async with stream(whisper, "grammar") as other:
            await other.expect("ready")
        await first.send({"type": "stop"})
        await first.expect_close()
    async with stream(whisper, "whisper") as third:
        await third.expect("ready")
        await third.send({"type": "stop"})
        await third.expect_close()
