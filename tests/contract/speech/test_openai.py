"""The recognizer that sends audio to OpenAI, against a test double of it."""

import io
import wave
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.speech.openai_double import KEY, OpenAiDouble, openai_double, settings_at
from tests.contract.speech.voices import Voices, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream
from tests.harness.until import until

FAILURES = {
    "closes": ("failed", "openai: closed with code 1011"),
    "junk": ("failed", "openai: an unexpected message"),
    "fails": ("failed", "openai: server_error"),
    "limited": ("overloaded", "openai: rate_limit_exceeded"),
}


@pytest.fixture(scope="module")
def settings(port: int) -> dict[str, str]:
    """Return the settings of recognizers that know the test double."""
    return settings_at(port)


@pytest.fixture
async def openai(port: int) -> AsyncIterator[OpenAiDouble]:
    """Run the test double."""
    async with openai_double(port) as double:
        yield double


async def test_utterances(server: SpeechProcess, openai: OpenAiDouble, voices: Voices) -> None:
    """The audio of each is committed at 24 kHz, and the session says what is likely."""
    openai.transcripts = ["I would like| to talk to billing.", ""]
    audio = await voices.say("billing")
    async with stream(
        server, "openai", language="nb-NO", hints=["faktura", "$digits"], silenceMs=300
    ) as opened:
        await opened.send_audio(silence(1000), audio, silence(600))
        final = await opened.expect("final")
        assert (final["text"], final["confidence"]) == ("I would like to talk to billing.", 0.8)
        await opened.send_audio(audio, silence(600))
        final = await opened.expect("final")
        assert (final["text"], final["confidence"]) == ("", 0.0)
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    assert openai.sessions == [
        {
            "type": "transcription",
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": 24_000},
                    "transcription": {
                        "model": "gpt-live-transcribe",
                        "languages": ["no"],
                        "keywords": ["faktura"],
                    },
                    "turn_detection": None,
                }
            },
        }
    ]
    for each in openai.audio_bytes:
        assert 3 * len(audio) < each < 3 * (len(audio) + 2 * 8_000)  # no long silence


async def test_a_model_that_knows_probabilities(
    settings: dict[str, str], openai: OpenAiDouble, voices: Voices, tmp_path: Path
) -> None:
    """They are its confidence; its hints are a prompt, its language one."""
    openai.transcripts = ["Billing."]
    hints = ["faktura", "human agent"]
    model = {"SWITCHROOM_SPEECH_OPENAI_MODEL": "gpt-4o-transcribe"}
    async with (
        SpeechProcess(tmp_path / "speech", **settings, **model) as server,
        stream(server, "openai", language="en-GB", hints=hints, silenceMs=300) as opened,
    ):
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        assert (await opened.expect("final"))["confidence"] == 0.905
    transcription = openai.sessions[0]["audio"]["input"]["transcription"]
    assert transcription == {
        "model": "gpt-4o-transcribe",
        "language": "en",
        "prompt": "faktura, human agent",
    }


async def test_a_model_without_hints(
    settings: dict[str, str], openai: OpenAiDouble, tmp_path: Path
) -> None:
    """It gets none."""
    model = {"SWITCHROOM_SPEECH_OPENAI_MODEL": "gpt-realtime-whisper"}
    async with (
        SpeechProcess(tmp_path / "speech", **settings, **model) as server,
        stream(server, "openai", hints=["faktura"]) as opened,
    ):
        await opened.expect("ready")
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    transcription = openai.sessions[0]["audio"]["input"]["transcription"]
    assert transcription == {"model": "gpt-realtime-whisper", "language": "en"}


async def test_interim_results(server: SpeechProcess, openai: OpenAiDouble, voices: Voices) -> None:
    """They are what a model for callers understands before the end."""
    openai.mode = "live"
    openai.transcripts = ["billing| please"]
    async with stream(server, "openai", interim=True, silenceMs=2000) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        assert (await opened.expect("interim"))["text"] == "billing"
        await opened.send({"type": "stop"})
        assert (await opened.expect("final"))["text"] == "billing please"


async def test_transcripts_in_another_order(
    server: SpeechProcess, openai: OpenAiDouble, voices: Voices
) -> None:
    """Each belongs to its utterance."""
    openai.mode = "reversed"
    openai.transcripts = ["one", "two"]
    audio = await voices.say("billing")
    async with stream(server, "openai", silenceMs=300) as opened:
        await opened.send_audio(silence(100), audio, silence(600), audio, silence(600))
        finals = [await opened.expect("final"), await opened.expect("final")]
        assert {each["text"]: each["startMs"] < 500 for each in finals} == {
            "one": True,
            "two": False,
        }


async def test_an_utterance_cut_off(
    server: SpeechProcess, openai: OpenAiDouble, voices: Voices
) -> None:
    """However short it is, it is long enough for the service."""
    openai.transcripts = ["bill"]
    audio = await voices.say("billing")
    async with stream(server, "openai", silenceMs=300) as opened:
        await opened.send_audio(audio[: 2 * 8 * 80])
        await opened.send({"type": "stop"})
        assert (await opened.expect("final"))["text"] == "bill"


async def test_a_transcript_that_is_not_completed(
    server: SpeechProcess, openai: OpenAiDouble, voices: Voices
) -> None:
    """It is what there is after five seconds; nothing at all is an error."""
    audio = silence(100) + await voices.say("billing") + silence(400)
    openai.transcripts = ["billing"]
    async with (
        stream(server, "openai", silenceMs=300) as silent,
        stream(server, "openai", silenceMs=300) as begun,
    ):
        openai.mode = "silent"
        await silent.send_audio(audio)
        await silent.send({"type": "stop"})
        await until(lambda: len(openai.audio_bytes) == 1, what="the end of the first utterance")
        openai.mode = "unfinished"
        await begun.send_audio(audio)
        error = await silent.expect("error")
        assert (await begun.expect("final"))["text"] == "billing"
    assert (error["code"], error["message"]) == ("failed", "openai: no transcript in 5 s")


@pytest.mark.parametrize("mode", list(FAILURES))
async def test_a_service_that_fails(
    server: SpeechProcess, openai: OpenAiDouble, voices: Voices, mode: str
) -> None:
    """The stream ends with an error."""
    openai.mode = mode
    async with stream(server, "openai", silenceMs=300) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        await opened.send({"type": "stop"})
        error = await opened.expect("error")
        assert (error["code"], error["message"]) == FAILURES[mode]
    assert KEY not in server.log.read_text()


async def test_a_busy_service(server: SpeechProcess, openai: OpenAiDouble) -> None:
    """Another process may have capacity."""
    openai.mode = "busy"
    async with stream(server, "openai") as opened:
        error = await opened.expect("error")
        assert (error["code"], error["message"]) == ("overloaded", "openai: HTTP 429")


async def test_a_wrong_key(server: SpeechProcess, openai: OpenAiDouble, voices: Voices) -> None:
    """The error has the service's code, and never the key."""
    openai.key = "sk-another-key-0123456789"
    async with stream(server, "openai") as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(1000))
        await opened.send({"type": "stop"})
        error = await opened.expect("error")
        assert error == {"type": "error", "code": "failed", "message": "openai: invalid_api_key"}
    assert KEY not in server.log.read_text()


async def test_a_recording(server: SpeechProcess, openai: OpenAiDouble, voices: Voices) -> None:
    """Each utterance is a file of its own, for the model that takes files."""
    openai.transcripts = ["Billing.", ""]
    audio = await voices.say("billing")
    async with stream(server, "openai", live=False, hints=["faktura"], silenceMs=300) as opened:
        await opened.send_audio(silence(1000), audio, silence(600), audio, silence(600))
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    finals = [each for each in opened.received if each["type"] == "final"]
    assert [(each["text"], each["confidence"]) for each in finals] == [("Billing.", 0.8), ("", 0.0)]
    content, fields = openai.files[0]
    with wave.open(io.BytesIO(content)) as file:
        assert (file.getframerate(), file.getnchannels()) == (8000, 1)
        assert len(audio) <= 2 * file.getnframes() < len(audio) + 2 * 16_000
    assert fields == {
        "response_format": ["json"],
        "model": ["gpt-transcribe"],
        "languages[]": ["en"],
        "keywords[]": ["faktura"],
    }


@pytest.mark.parametrize(("mode", "code"), [("busy", "overloaded"), ("junk", "failed")])
async def test_a_service_that_transcribes_no_recording(
    server: SpeechProcess, openai: OpenAiDouble, voices: Voices, mode: str, code: str
) -> None:
    """The recording ends with an error, and another one may follow."""
    openai.mode = mode
    for _ in range(2):
        async with stream(server, "openai", live=False, silenceMs=300) as opened:
            await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
            assert (await opened.expect("error"))["code"] == code
