"""The bots as a server: its program can be killed and frozen."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import aiohttp

from dev.servers.server import Server, is_well
from tests.harness.ports import free_port
from tests.harness.servers.connections import count_connections

ROOT = Path(__file__).parents[4]


class EchoBots(Server):
    """One program for all bots, on a free port."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.echo_url = f"ws://127.0.0.1:{self.port}/echo"
        self.fork_url = f"ws://127.0.0.1:{self.port}/fork"

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "tools.chaos.streams.servers.echo_program", str(self.port))

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(ROOT)}

    async def is_ready(self) -> bool:
        """Return whether it accepts connections."""
        return await is_well(self._forks_url)

    @property
    def connected(self) -> int:
        """The number of connected bots."""
        return count_connections(self.port)

    async def heard_by_forks(self) -> dict[str, int]:
        """Return how many messages with audio each connected fork has got, by its number."""
        async with aiohttp.ClientSession() as session, session.get(self._forks_url) as reply:
            heard: dict[str, int] = await reply.json()
            return heard

    @property
    def _forks_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/forks"
