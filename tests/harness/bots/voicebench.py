"""Lets voicebench, a benchmark of others, hold a conversation by telephone.

voicebench streams PCM over a websocket. Here that is a phone whose call has a bot at its other end,
so what it measures includes the PBX and the gateway.

report = await run_voicebench(phone, scenario, tmp_path)
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import WSMsgType, web

from tests.harness.bots.pipecat_packages import install
from tests.harness.phones.audio import RATE_HZ, Frame
from tests.harness.phones.phone import Phone
from tests.harness.servers.web_server import WebServer

MAX_RUN_S = 180


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


async def _send(socket: web.WebSocketResponse, heard: asyncio.Queue[Frame]) -> None:
    while not socket.closed:
        await socket.send_bytes((await heard.get()).samples.astype("<i2").tobytes())
