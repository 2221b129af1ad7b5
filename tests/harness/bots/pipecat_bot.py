"""Runs the Pipecat bot as a program of its own, and transcribes what callers hear.

async with PipecatBot(tmp_path) as bot:
    bot.url                                   # of the verb `stream`
    await bot.wait_for_conversation(lambda each: "billing" in each.text)
    await bot.transcribe(phone.recording())
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Self

import aiohttp
import msgspec
from msgspec import Struct

from dev.servers.process import Process
from tests.harness.bots.pipecat_packages import FOLDER, install, whisper_model
from tests.harness.phones.audio import Samples, wav
from tests.harness.ports import free_port
from tests.harness.until import MAX_WAIT_S, until

_START_S = 60  # it imports a lot
_THREADS = {"OMP_NUM_THREADS": "1", "NO_PROXY": "127.0.0.1"}  # the calls need the other core


class Conversation(Struct, frozen=True):
    """One stream as the bot has seen it."""

    call: str
    stream: str
    parameters: dict[str, str]
    heard: tuple[str, ...]
    digits: str
    interruptions: int
    is_over: bool

    @property
    def text(self) -> str:
        """Return all that the bot has understood, in lower case."""
        return " ".join(self.heard).lower()


class PipecatBot:
    """The bot within its context, on a free port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._python = Path()
        self._process: Process | None = None

    @property
    def url(self) -> str:
        """Return the address of the websocket."""
        return f"ws://127.0.0.1:{self._port}/ws"

    async def __aenter__(self) -> Self:
        self._python = await asyncio.to_thread(install)
        argv = (
            *(str(self._python), str(FOLDER / "bot.py"), str(self._port)),
            str(whisper_model(self._python)),
        )
        self._process = Process.start(argv, log=self._folder / "bot.log", env=_THREADS)
        await until(self._is_listening, timeout_s=_START_S, what="the bot to listen")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None:
            await self._process.stop()

    async def kill(self) -> None:
        """End the program at once, as a crash does."""
        if self._process is not None:
            await self._process.kill()

    async def conversations(self) -> list[Conversation]:
        """Return all conversations since the start."""
        url = f"http://127.0.0.1:{self._port}/conversations"
        async with aiohttp.ClientSession() as session, session.get(url) as reply:
            return msgspec.json.decode(await reply.read(), type=list[Conversation])

    async def wait_for_conversation(
        self,
        condition: Callable[[Conversation], bool],
        what: str,
        timeout_s: float = MAX_WAIT_S,
    ) -> Conversation:
        """Wait until the last conversation fulfils a condition, and return it."""
        last: list[Conversation] = []

        async def is_fulfilled() -> bool:
            last[:] = (await self.conversations())[-1:]
            return bool(last) and condition(last[0])

        try:
            await until(is_fulfilled, timeout_s=timeout_s, what=what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {last}") from error
        return last[0]

    async def transcribe(self, samples: Samples) -> str:
        """Return what is said in received audio, in lower case."""
        path = self._folder / "heard.wav"
        path.write_bytes(wav(samples))
        argv = (str(self._python), str(FOLDER / "transcribe.py"), str(whisper_model(self._python)))
        program = await asyncio.create_subprocess_exec(
            *argv, str(path), stdout=asyncio.subprocess.PIPE
        )
        printed, _ = await program.communicate()
        assert program.returncode == 0
        return printed.decode().strip().lower()

    async def _is_listening(self) -> bool:
        if self._process is not None and not self._process.alive():
            raise RuntimeError((self._folder / "bot.log").read_text()[-2_000:])
        try:
            await self.conversations()
        except aiohttp.ClientError:
            return False
        return True
