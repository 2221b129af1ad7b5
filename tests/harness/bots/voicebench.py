"""Lets voicebench, a benchmark of others, hold a conversation by telephone.

voicebench streams PCM over a websocket. Here that is a phone whose call has a bot at its other end,
so what it measures includes the PBX and the gateway.

report = await run_voicebench(phone, await conversation_scenario(tmp_path), tmp_path)
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import WSMsgType, web

from tests.harness.bots.pipecat_packages import install
from tests.harness.bots.speech import spoken
from tests.harness.phones.audio import RATE_HZ, Frame, wav
from tests.harness.phones.phone import Phone
from tests.harness.servers.web_server import WebServer

MAX_RUN_S = 180
PATIENCE_MS = 30_000  # of a busy machine
QUESTION = "I would like to talk to billing."
INTERRUPTION = "Stop. I have another question for you."


class PhoneSocket(WebServer):
    """A websocket whose audio is what a phone says and hears."""

    def __init__(self, phone: Phone) -> None:
        super().__init__()
        self._phone = phone

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Accept websockets at one path."""
        return [web.get("/", self._talk)]

    async def _talk(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        heard = asyncio.Queue[Frame]()
        self._phone.line.on_frame = heard.put_nowait
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(_send(socket, heard))
            async for message in socket:
                if message.type is WSMsgType.BINARY:
                    self._phone.line.feed(np.frombuffer(message.data, "<i2").astype(np.int16))
            sending.cancel()
        return socket


async def run_voicebench(phone: Phone, scenario: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Play a scenario into a call, and return the report."""
    python = await asyncio.to_thread(install)
    path, out = folder / "scenario.json", folder / "voicebench"  # JSON is YAML, too
    path.write_text(json.dumps({**scenario, "sample_rate": RATE_HZ}))
    async with PhoneSocket(phone) as socket:
        program = await asyncio.create_subprocess_exec(
            *(str(python), "-m", "voicebench", "run", str(path), "--adapter", "websocket"),
            *("--url", socket.url("/").replace("http", "ws", 1)),
            *("--out", str(out), "--format", "json"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(MAX_RUN_S):
            printed, _ = await program.communicate()
    files = list(out.glob("*.json"))
    assert files, printed.decode()
    report: dict[str, Any] = json.loads(files[0].read_text())
    return report


async def conversation_scenario(folder: Path) -> dict[str, Any]:
    """Return what voicebench says and expects, with the audio in files."""
    question, interruption = folder / "question.wav", folder / "interruption.wav"
    question.write_bytes(wav(await spoken(QUESTION)))
    interruption.write_bytes(wav(await spoken(INTERRUPTION)))
    # Its pauses are those between sentences, not those between words.
    conversation = {"agent": {"min_silence_ms": 1_000}}
    return {
        "name": "pipecat-by-telephone",
        "max_duration_ms": 90_000,
        "defaults": {"response_timeout_ms": PATIENCE_MS},
        "vad": conversation,
        "turns": [
            {
                "id": "question",
                "audio": {"file": str(question)},
                "start": {"after": "session_start", "delay_ms": 500},
            },
            {
                "id": "cough",
                "audio": {"synth": "noise", "duration_ms": 120, "level_db": -22},
                "start": {
                    "after": "agent_speech_start",
                    "delay_ms": 1_500,
                    "timeout_ms": PATIENCE_MS,
                },
                "expect": "ignore",
                "max_stop_ms": 1_000,
            },
            {
                "id": "interruption",
                "audio": {"file": str(interruption)},
                "start": {"after": "previous_turn_end", "delay_ms": 1_500},
                "expect": "stop",
                "max_stop_ms": 10_000,
            },
        ],
        "assert": {
            "max_missed_responses": 0,
            "min_barge_in_success_rate": 1,
            "max_false_barge_ins": 0,
        },
    }


async def _send(socket: web.WebSocketResponse, heard: asyncio.Queue[Frame]) -> None:
    while not socket.closed:
        await socket.send_bytes((await heard.get()).samples.astype("<i2").tobytes())
