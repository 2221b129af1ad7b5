"""Recordings of spoken words, and real recognizers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.accounts.store import TranscriptSetting
from tests.contract.api.transcripts.scene import path_of, recorded, transcript_scene_with, wav
from tests.contract.speech.voices import Voices, open_voices, silence
from tests.harness.api.databases import sqlite_url
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.speech_process import SpeechProcess, whisper_model

CALLER, AGENT = "i would like to talk to billing", "one moment please"
MAX_OFF_MS = 300


@pytest.fixture(scope="module")
def voices() -> Iterator[Voices]:
    """Provide the neural voice."""
    with open_voices() as made:
        yield made


@pytest.mark.parametrize("recognizer", ["whisper", "grammar"])
async def test_a_conversation(
    tmp_path: Path, scene: RpcScene, voices: Voices, recognizer: str
) -> None:
    """Who said what, and when."""
    setting = TranscriptSetting(recognizer, "en-GB", (CALLER, AGENT))
    question, reply = await voices.say(CALLER), await voices.say(AGENT)
    question_ms, reply_ms = len(question) // 16, len(reply) // 16
    left = silence(500) + question + silence(reply_ms + 2_000)
    right = silence(1_500 + question_ms) + reply + silence(1_000)
    async with SpeechProcess(
        tmp_path / "speech", SWITCHROOM_SPEECH_WHISPER_MODEL=str(whisper_model())
    ) as speech:
        address = speech.url.replace("http", "ws", 1)
        async with transcript_scene_with(
            sqlite_url(tmp_path), scene, address, token=speech.token
        ) as transcript_scene:
            await transcript_scene.set(setting)
            await transcript_scene.archive(path_of(1), wav(left, right))
            await transcript_scene.end(recorded(1))
            await transcript_scene.work()
            found = await transcript_scene.transcript(path_of(1))
        assert CALLER not in speech.log.read_text()
    assert (found["state"], found["recognizer"]) == ("done", recognizer)
    said, heard = found["segments"]
    assert (said["channel"], heard["channel"]) == ("main", "other")
    assert "talk to billing" in said["text"].lower()
    assert "moment" in heard["text"].lower()
    assert abs(said["startMs"] - 500) < MAX_OFF_MS
    assert abs(heard["startMs"] - 1_500 - question_ms) < MAX_OFF_MS
    assert min(said["confidence"], heard["confidence"]) > 0.4
