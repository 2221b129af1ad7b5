"""The two prompts of the standard call: files for the dialplan, HTTP for the engine."""

import math
import struct
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from tests.harness.ports import free_port

RATE_HZ = 8_000
LENGTHS_MS = {"first": 1_000, "second": 500}


def write_prompts(folder: Path) -> None:
    """Write first.wav and second.wav: tones in the format of the engine's clips."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, length_ms in LENGTHS_MS.items():
        samples = [
            int(8_000 * math.sin(2 * math.pi * 440 * n / RATE_HZ)) for n in range(8 * length_ms)
        ]
        with wave.open(str(folder / f"{name}.wav"), "wb") as out:
            out.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
            out.writeframes(struct.pack(f"<{len(samples)}h", *samples))


@asynccontextmanager
async def serve_folder(folder: Path) -> AsyncIterator[str]:
    """Serve a folder on 127.0.0.1; yields its address."""
    app = web.Application()
    app.router.add_static("/", folder)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    port = free_port()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()
