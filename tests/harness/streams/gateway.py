"""A stream gateway as a process, and an engine's view of it."""

import asyncio
import json
import ssl
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from dev.servers.server import Server, is_well
from tests.harness.ports import free_port
from tests.harness.until import until

TOKEN = "g" * 40


class GatewayProcess(Server):
    """One gateway on a free port."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder)
        self.port = free_port()
        scheme = "https" if "SWITCHROOM_STREAMS_TLS_CERT" in settings else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.trust: ssl.SSLContext | bool = True
        self._settings = {
            "SWITCHROOM_STREAMS_PORT": str(self.port),
            "SWITCHROOM_STREAMS_TOKEN": TOKEN,
            **settings,
        }

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "switchroom", "streams")

    def environment(self) -> Mapping[str, str]:
        return self._settings

    async def is_ready(self) -> bool:
        return await is_well(self.url + "/readyz", self.trust)


class GatewayClient:
    """What an engine does with a gateway: requests, and a reader of its reports."""

    def __init__(self, url: str, token: str = TOKEN, trust: ssl.SSLContext | None = None) -> None:
        self._url = url
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {token}"},
            connector=aiohttp.TCPConnector(ssl=trust or True),
        )
        self._reader: asyncio.Task[None] | None = None
        self.reports: list[dict[str, Any]] = []

    async def close(self) -> None:
        await self.stop_reading()
        await self._session.close()

    async def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request; return status and JSON."""
        async with self._session.request(method, self._url + path, json=body) as response:
            text = await response.text()
            return response.status, json.loads(text) if text else None

    async def read(self) -> None:
        """Read reports, beginning with a snapshot."""
        socket = await self._session.ws_connect(self._url + "/reports")
        first = await socket.receive_json()
        self.reports.append(first)

        async def read_all() -> None:
            async for message in socket:
                self.reports.append(message.json())

        self._reader = asyncio.create_task(read_all())

    async def stop_reading(self) -> None:
        """Close the reader; the gateway notices it."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._reader = None

    def of(self, stream: str, kind: str) -> list[dict[str, Any]]:
        """Return the reports of one kind about one stream."""
        found = (each for each in self.reports if each.get("stream") == stream)
        return [each for each in found if each["type"] == kind]

    async def wait_for(self, stream: str, kind: str, timeout_s: float = 10) -> dict[str, Any]:
        """Return the first report of one kind about one stream."""
        await until(
            lambda: bool(self.of(stream, kind)), timeout_s=timeout_s, every_s=0.005,
            what=lambda: f"{kind} of {stream}: {self.reports}",
        )  # fmt: skip
        return self.of(stream, kind)[0]
