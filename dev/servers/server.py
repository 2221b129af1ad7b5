"""Base class of servers that are started, stopped, killed, and found again by their files."""

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Self

import aiohttp

from dev.servers.process import Process, until


class Ended(RuntimeError):
    """A server ended before it was ready; the message has its output."""


Trust = ssl.SSLContext | bool  # what verifies a server of https; True: the system's CAs


class Server(ABC):
    """A server program; its ports and files stay the same after a restart.

    `async with` starts and stops it. With `bound` it ends with this process, otherwise it outlives
    this process and `running()` finds it again by the files in its folder.
    """

    ready_within_s: float = 60  # an engine needs up to 20 on a busy machine

    def __init__(self, folder: Path, *, bound: bool = True) -> None:
        self.folder = folder.absolute()
        self.log = self.folder / "output.log"
        self._bound = bound
        self._process: Process | None = None

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return the command line."""

    @abstractmethod
    async def is_ready(self) -> bool:
        """Return whether it serves requests."""

    def environment(self) -> Mapping[str, str]:
        """Return environment variables for the program, in addition to ours."""
        return {}

    def prepare(self) -> None:
        """Create the folder and the configuration; may block."""
        self.folder.mkdir(parents=True, exist_ok=True)

    async def start(self) -> Self:
        """Start it and return when it is ready; raises RuntimeError with its output if it ends."""
        await asyncio.to_thread(self.prepare)
        self._process = Process.start(
            self.command(),
            log=self.log,
            env=self.environment(),
            cwd=self.folder,  # not where the .env of the developer is
            bound=self._bound,
        )
        try:
            self._process.save(self._pid_file)
            await until(
                self._is_ready, timeout_s=self.ready_within_s, every_s=0.05, what=str(self.log)
            )
        except BaseException:
            await self.kill()
            raise
        return self

    def running(self) -> bool:
        """Return whether it runs, even if another process has started it."""
        if self._process is None or not self._process.alive():
            self._process = Process.load(self._pid_file)
        return self._process is not None

    def was_stopped(self) -> bool:
        """Return whether a command has stopped it, unlike a server that has ended."""
        return not self._pid_file.exists()

    @property
    def pid(self) -> int:
        """Return the process id; raises RuntimeError if it does not run."""
        if not self.running() or self._process is None:
            raise RuntimeError(f"{self.folder} does not run")
        return self._process.pid

    async def stop(self) -> None:
        """Stop it by SIGTERM if it runs."""
        if self.running() and self._process is not None:
            await self._process.stop()
        self._process = None
        self._pid_file.unlink(missing_ok=True)

    async def kill(self) -> None:
        """Stop it by SIGKILL if it runs."""
        if self.running() and self._process is not None:
            await self._process.kill()
        self._process = None

    async def restart(self) -> None:
        """Stop it if it runs, and start it again."""
        await self.stop()
        await self.start()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def _pid_file(self) -> Path:
        return self.folder / "pid"

    async def _is_ready(self) -> bool:
        if not self.running():
            output = self.log.read_text(errors="replace")[-2000:]
            raise Ended(f"{self.folder.name} ended before it was ready:\n{output}")
        return await self.is_ready()


async def is_well(url: str, trust: Trust = True, **headers: str) -> bool:
    """Return whether an address answers 200."""
    try:
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(url, ssl=trust) as reply,
        ):
            return reply.status == HTTPStatus.OK
    except aiohttp.ClientError:
        return False
