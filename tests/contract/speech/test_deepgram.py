"""The recognizer that sends audio to Deepgram, against a test double of it."""

import io
import wave
from collections.abc import AsyncIterator

import pytest

from tests.contract.speech.deepgram_double import KEY, DeepgramDouble, deepgram_double, settings_at
from tests.contract.speech.voices import Voices, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream


@pytest.fixture(scope="module")
def settings(port: int) -> dict[str, str]:
    """Return the settings of recognizers that know the test double."""
    return settings_at(port)


@pytest.fixture
async def deepgram(port: int) -> AsyncIterator[DeepgramDouble]:
    """Run the test double."""
    async with deepgram_double(port) as double:
        yield double


async def test_utterances(server: SpeechProcess, deepgram: DeepgramDouble, voices: Voices) -> None:
    """Their audio is sent, and final parts until the finalized one are the transcript."""
    deepgram.transcripts = ["I would like|to talk to billing.", ""]
    audio = await voices.say("billing")
    async with stream(
        server, "deepgram", language="nb-NO", hints=["faktura", "$digits"], silenceMs=300
    ) as opened:
        await opened.send_audio(silence(1000), audio, silence(600))
        final = await opened.expect("final")
        assert final["text"] == "I would like to talk to billing."
        assert final["confidence"] == 0.9
        await opened.send_audio(audio, silence(600))
        assert (await opened.expect("final"))["text"] == ""
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    query = deepgram.queries[0]
    assert query["language"] == ["nb-NO"]
    assert query["keyterm"] == ["faktura"]
    assert (query["encoding"], query["sample_rate"]) == (["linear16"], ["8000"])
    assert deepgram.received[:2] == ["Finalize", "Finalize"]
    assert 2 * len(audio) < deepgram.audio_bytes < 2 * len(audio) + 2 * 16_000  # no long silence


async def test_interim_results(
    server: SpeechProcess, deepgram: DeepgramDouble, voices: Voices
) -> None:
    """They are requested only if the gateway wants them."""
    deepgram.transcripts = ["billing"]
    async with stream(server, "deepgram", interim=True, silenceMs=300) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        await opened.expect("final")
    assert deepgram.queries[0]["interim_results"] == ["true"]


async def test_a_service_that_does_not_finalize(
    server: SpeechProcess, deepgram: DeepgramDouble, voices: Voices
) -> None:
    """The transcript has what there is after two seconds."""
    deepgram.mode = "silent"
    async with stream(server, "deepgram", silenceMs=300) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        assert (await opened.expect("final"))["text"] == ""


@pytest.mark.parametrize("mode", ["closes", "junk"])
async def test_a_service_that_fails(
    server: SpeechProcess, deepgram: DeepgramDouble, voices: Voices, mode: str
) -> None:
    """The stream ends with an error."""
    deepgram.mode = mode
    async with stream(server, "deepgram", silenceMs=300) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        await opened.send({"type": "stop"})
        error = await opened.expect("error")
        assert error["code"] == "failed"
        assert error["message"].startswith("deepgram: ")
        assert await opened.expect_close() == 1011


async def test_a_wrong_key(server: SpeechProcess, deepgram: DeepgramDouble) -> None:
    """The error has the status, and never the key."""
    deepgram.key = "another-key-0123456789"
    async with stream(server, "deepgram") as opened:
        error = await opened.expect("error")
        assert error == {"type": "error", "code": "failed", "message": "deepgram: HTTP 401"}
    assert KEY not in server.log.read_text()


async def test_an_unreachable_service(server: SpeechProcess) -> None:
    """A service that cannot be reached is an error of the stream, not of the process."""
    async with stream(server, "deepgram") as opened:
        assert (await opened.expect("error"))["message"] == "deepgram: refused"
    async with stream(server, "grammar") as opened:
        await opened.expect("ready")


async def test_a_recording(server: SpeechProcess, deepgram: DeepgramDouble, voices: Voices) -> None:
    """Each utterance is a file of its own; a service that is busy may have time later."""
    deepgram.transcripts = ["Billing.", ""]
    audio = await voices.say("billing")
    async with stream(server, "deepgram", live=False, hints=["faktura"], silenceMs=300) as opened:
        await opened.send_audio(silence(1000), audio, silence(600), audio, silence(600))
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    finals = [each for each in opened.received if each["type"] == "final"]
    assert [each["text"] for each in finals] == ["Billing.", ""]
    with wave.open(io.BytesIO(deepgram.files[0])) as file:
        assert (file.getframerate(), file.getnchannels()) == (8000, 1)
        assert len(audio) <= 2 * file.getnframes() < len(audio) + 2 * 16_000
    assert deepgram.queries[0]["keyterm"] == ["faktura"]
    assert "encoding" not in deepgram.queries[0]


@pytest.mark.parametrize(("mode", "code"), [("busy", "overloaded"), ("junk", "failed")])
async def test_a_service_that_transcribes_no_recording(
    server: SpeechProcess, deepgram: DeepgramDouble, voices: Voices, mode: str, code: str
) -> None:
    """The recording ends with an error, and another one may follow."""
    deepgram.mode = mode
    for _ in range(2):
        async with stream(server, "deepgram", live=False, silenceMs=300) as opened:
            await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
            assert (await opened.expect("error"))["code"] == code
