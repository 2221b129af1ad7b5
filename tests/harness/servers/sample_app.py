"""An application that `switchroom new` creates, running on a free port."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from cli.new import Framework, Sample, create_project
from dev.servers.process import Process
from tests.harness import npm
from tests.harness.ports import free_port
from tests.harness.until import until


class SampleApp:
    """The address of a running application."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    async def get(self, path: str) -> object:
        """Return the JSON of a path."""
        async with aiohttp.ClientSession() as session, session.get(self.url + path) as reply:
            reply.raise_for_status()
            return await reply.json()

    async def post(self, path: str, body: object = None) -> object:
        """Send a POST; return the JSON of the response."""
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url + path, json=body) as reply,
        ):
            reply.raise_for_status()
            return await reply.json()

    async def is_listening(self) -> bool:
        """Return whether anything responds, with any status."""
        try:
            async with aiohttp.ClientSession() as session, session.get(self.url):
                return True
        except aiohttp.ClientError:
            return False


@asynccontextmanager
async def run_sample(
    sample: Sample, framework: Framework, folder: Path, env: Mapping[str, str] | None = None
) -> AsyncIterator[SampleApp]:
    """Create and run an application; its packages are those of the tests."""
    port = free_port()
    create_project(sample, framework, folder)
    if framework == "express":
        if reason := await asyncio.to_thread(npm.install, folder):
            pytest.skip(reason)
        argv: tuple[str, ...] = ("npm", "start", "--prefix", str(folder))
    else:
        argv = (sys.executable, str(folder / "app.py"))
    app = SampleApp(port)
    settings = {
        "PORT": str(port),
        "NO_PROXY": "127.0.0.1",
        "SWITCHROOM_PUBLIC_URL": app.url,
        **(env or {}),
    }
    process = Process.start(argv, log=folder / "log", env=settings)
    try:
        await until(app.is_listening, what=f"{sample} to listen")
        yield app
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # npm starts other programs
        await process.kill()
