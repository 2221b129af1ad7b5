"""A stream gateway as a process, beside the PBX of a lab."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import aiohttp

from dev.servers.server import Server, is_well
from tests.harness.ports import free_port
from tests.harness.servers.speech_process import SpeechProcess, gateway_settings


class StreamGateway(Server):
    """One gateway on a free port."""

    def __init__(
        self, folder: Path, token: str, speech: SpeechProcess | None = None, **settings: str
    ) -> None:
        """With recognizers it knows them."""
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._settings = {
            "SWITCHROOM_STREAMS_PORT": str(self.port),
            "SWITCHROOM_STREAMS_TOKEN": token,
            **settings,
        }
        if speech is not None:
            self._settings |= gateway_settings(speech)

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "switchroom", "streams")

    def environment(self) -> Mapping[str, str]:
        return self._settings

    async def has_streams(self) -> bool:
        """Return whether it has live streams."""
        return await self.total_of("switchroom_streams") > 0

    async def total_of(self, metric: str) -> float:
        """Return the value of a metric; with labels, the sum of its values."""
        async with aiohttp.ClientSession() as http, http.get(f"{self.url}/metrics") as page:
            lines = (await page.text()).splitlines()
        found = [line for line in lines if line.startswith((f"{metric} ", f"{metric}{{"))]
        return sum(float(line.rpartition(" ")[2]) for line in found)

    async def is_ready(self) -> bool:
        """Return whether it serves requests."""
        return await is_well(f"{self.url}/readyz")
