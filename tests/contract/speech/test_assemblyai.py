"""The recognizer that sends audio to AssemblyAI, against a test double of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.speech.assemblyai_double import (
    KEY,
    AssemblyAiDouble,
    assemblyai_double,
    settings_at,
)
from tests.contract.speech.voices import Voices, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream

FAILURES = {
    "closes": ("failed", "assemblyai: closed with code 1011"),
    "junk": ("failed", "assemblyai: an unexpected message"),
    "error": ("failed", "assemblyai: error 3005"),
    "full": ("overloaded", "assemblyai: error 3009"),
}


@pytest.fixture(scope="module")
def settings(port: int) -> dict[str, str]:
    """Return the settings of recognizers that know the test double."""
    return settings_at(port)


@pytest.fixture
async def assemblyai(port: int) -> AsyncIterator[AssemblyAiDouble]:
    """Run the test double."""
    async with assemblyai_double(port) as double:
        yield double


async def test_utterances(
    server: SpeechProcess, assemblyai: AssemblyAiDouble, voices: Voices
) -> None:
    """Their audio is sent, and the formatted turn that ends with them is the transcript."""
    assemblyai.transcripts = ["Billing.", "Human agent."]
    audio = await voices.say("billing")
    hints = ["faktura", "$digits", "x" * 51]
    async with stream(server, "assemblyai", language="de-AT", hints=hints, silenceMs=300) as opened:
        await opened.send_audio(silence(1000), audio, silence(600))
        final = await opened.expect("final")
        assert (final["text"], final["confidence"]) == ("Billing.", 0.9)
        await opened.send_audio(audio, silence(600))
        assert (await opened.expect("final"))["text"] == "Human agent."
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    assert assemblyai.queries == [
        {
            "speech_model": "universal-3-5-pro",
            "encoding": "pcm_s16le",
            "sample_rate": "8000",
            "min_turn_silence": "1300",
            "max_turn_silence": "1300",
            "language_codes": '["de"]',
            "keyterms_prompt": '["faktura"]',
        }
    ]
    assert assemblyai.received == ["ForceEndpoint", "ForceEndpoint", "Terminate"]
    spoken_ms = 2 * len(audio) / 16
    assert spoken_ms < assemblyai.heard_ms < spoken_ms + 2 * 1000  # no long silence


async def test_an_utterance_without_a_word(
    server: SpeechProcess, assemblyai: AssemblyAiDouble, voices: Voices
) -> None:
    """It has no turn, and the next turn is not taken for it."""
    assemblyai.transcripts = ["", "Billing."]
    audio = await voices.say("billing")
    async with stream(server, "assemblyai", silenceMs=300) as opened:
        await opened.send_audio(silence(100), audio, silence(600), audio, silence(600))
        finals = sorted(
            [await opened.expect("final"), await opened.expect("final")],
            key=lambda final: final["startMs"],
        )
    assert [each["text"] for each in finals] == ["", "Billing."]


async def test_interim_results(
    server: SpeechProcess, assemblyai: AssemblyAiDouble, voices: Voices
) -> None:
    """They have words that may still change."""
    assemblyai.mode = "partials"
    assemblyai.transcripts = ["billing please"]
    async with stream(server, "assemblyai", interim=True, silenceMs=2000) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        assert (await opened.expect("interim"))["text"] == "billing please"
        await opened.send({"type": "stop"})
        assert (await opened.expect("final"))["text"] == "billing please"


async def test_a_model_that_formats_later(
    settings: dict[str, str], assemblyai: AssemblyAiDouble, voices: Voices, tmp_path: Path
) -> None:
    """What it formats is awaited for two seconds; it understands English only."""
    assemblyai.mode = "unformatted"
    assemblyai.transcripts = ["billing"]
    model = {"SWITCHROOM_SPEECH_ASSEMBLYAI_MODEL": "universal-streaming-english"}
    async with SpeechProcess(tmp_path / "speech", **settings, **model) as server:
        async with stream(server, "assemblyai", silenceMs=300) as opened:
            await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
            assert (await opened.expect("final"))["text"] == "billing"
        async with stream(server, "assemblyai", language="de-AT") as opened:
            assert (await opened.expect("error"))["code"] == "unsupported-language"
    query = assemblyai.queries[0]
    assert (query["format_turns"], query["end_of_turn_confidence_threshold"]) == ("true", "1.0")
    assert "language_codes" not in query


@pytest.mark.parametrize("mode", list(FAILURES))
async def test_a_service_that_fails(
    server: SpeechProcess, assemblyai: AssemblyAiDouble, voices: Voices, mode: str
) -> None:
    """The stream ends with an error."""
    assemblyai.mode = mode
    async with stream(server, "assemblyai", silenceMs=300) as opened:
        await opened.send_audio(silence(100), await voices.say("billing"), silence(400))
        await opened.send({"type": "stop"})
        error = await opened.expect("error")
        assert (error["code"], error["message"]) == FAILURES[mode]


async def test_a_wrong_key(server: SpeechProcess, assemblyai: AssemblyAiDouble) -> None:
    """The error has the status, and never the key."""
    assemblyai.key = "another-key-0123456789"
    async with stream(server, "assemblyai") as opened:
        assert (await opened.expect("error"))["message"] == "assemblyai: HTTP 401"
    assert KEY not in server.log.read_text()


async def test_recordings(
    server: SpeechProcess, assemblyai: AssemblyAiDouble, voices: Voices
) -> None:
    """They are sent as fast as they were spoken, one at a time."""
    assemblyai.transcripts = ["Billing."]
    audio = await voices.say("billing")
    clock = asyncio.get_running_loop().time
    began_s = clock()
    async with stream(server, "assemblyai", live=False, silenceMs=300) as opened:
        await opened.expect("ready")
        async with stream(server, "assemblyai", live=False) as another:
            assert (await another.expect("error"))["code"] == "overloaded"
        await opened.send_audio(silence(30_000), audio, silence(600))
        await opened.send({"type": "stop"})
        assert (await opened.expect("final"))["text"] == "Billing."
        assert await opened.expect_close() == 1000
    assert clock() - began_s >= len(audio) / 16_000
    async with stream(server, "assemblyai", live=False) as opened:
        await opened.expect("ready")
