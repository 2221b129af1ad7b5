"""The process: its start, its settings, its end, and how soon results come."""

import asyncio
import os
import secrets
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.contract.speech.voices import Voices, silence
from tests.contract.speech.workers import children, running
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream

SILENCE_MS = 300


async def start(folder: Path, **settings: str) -> tuple[int | None, str]:
    """Run the program until it ends; return its status and its output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "switchroom", "speech"),
        cwd=folder,
        env={"PATH": os.environ["PATH"], **settings},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, output = await process.communicate()
    return process.returncode, output.decode()


async def test_invalid_settings(tmp_path: Path) -> None:
    """It names them, and ends with the status of programs that do not start."""
    status, output = await start(tmp_path, SWITCHROOM_SPEECH_PORT="99999")
    assert status == 2
    assert "SWITCHROOM_SPEECH_PORT" in output
    assert "SWITCHROOM_SPEECH_TOKEN" in output
    assert "invalid_settings" in output


async def test_a_port_that_is_taken(speech: SpeechProcess, tmp_path: Path) -> None:
    """It names the settings that change it."""
    settings = {
        "SWITCHROOM_SPEECH_TOKEN": secrets.token_urlsafe(32),
        "SWITCHROOM_SPEECH_PORT": str(speech.port),
    }
    status, output = await start(tmp_path, **settings)
    assert status == 2
    assert "SWITCHROOM_SPEECH_PORT" in output
    assert "cannot_listen" in output


async def test_the_list(speech: SpeechProcess) -> None:
    """It has the recognizers that the process has."""
    headers = {"Authorization": f"Bearer {speech.token}"}
    async with (
        ClientSession(headers=headers) as http,
        http.get(f"{speech.url}/recognizers") as response,
    ):
        assert await response.json() == [{"name": "grammar", "languages": ["en"]}]


async def test_its_end(own_speech: SpeechProcess) -> None:
    """SIGTERM ends streams and worker processes, too."""
    async with stream(own_speech) as opened:
        await opened.expect("ready")
        workers = children(own_speech.pid)
        await own_speech.stop()
        await opened.expect_close()
    assert workers
    assert not running(workers)


async def test_no_transcript_is_logged(speech: SpeechProcess, voices: Voices) -> None:
    """Neither hints nor what was understood."""
    async with stream(speech, hints=["billing"], silenceMs=SILENCE_MS) as opened:
        await opened.send_audio(silence(300), await voices.say("billing"), silence(400))
        assert (await opened.expect("final"))["text"] == "billing"
    assert "billing" not in speech.log.read_text()


@pytest.mark.parametrize("words", ["billing", "a human agent"])
async def test_results_follow_the_silence(
    speech: SpeechProcess, voices: Voices, words: str
) -> None:
    """The transcript follows the silence, without more audio; `make bench` measures how soon."""
    audio = await voices.say(words)
    async with stream(speech, hints=["billing", "human agent"], silenceMs=SILENCE_MS) as opened:
        await opened.expect("ready")
        await opened.send_in_time(silence(300) + audio)
        await opened.send_in_time(silence(SILENCE_MS + 100))
        await opened.expect("final")
