"""Bots and recognizers that flood, in a process of their own: only the gateway has their load."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dev.servers.server import Server, is_well
from tests.harness.ports import free_port

_ROOT = Path(__file__).parents[3]


class FloodingServer(Server):
    """A server at a free port; `flooding_program` says what it sends."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}"

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "tests.harness.streams.flooding_program", str(self.port))

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(_ROOT)}

    async def is_ready(self) -> bool:
        return await is_well(f"http://127.0.0.1:{self.port}/")
