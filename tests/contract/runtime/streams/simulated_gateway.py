"""A simulated stream gateway: it keeps what engines send, and reports what a test says."""

import json
from collections.abc import Iterable

import msgspec
from aiohttp import web

from tests.harness.servers.web_server import WebServer
from tests.harness.until import until
from wire.streams.reports import LiveStream, Report, Snapshot, StreamEnded
from wire.streams.setup import StreamSetup

TOKEN = "token-of-a-simulated-gateway"  # noqa: S105 - of no installation
_encode = msgspec.json.Encoder().encode


class SimulatedGateway(WebServer):
    """Accepts all streams, or answers each request with `refusal`."""

    def __init__(self) -> None:
        super().__init__()
        self.setups: dict[str, StreamSetup] = {}
        self.messages: list[tuple[str, str, dict[str, object]]] = []  # stream, id, message
        self.deleted: list[str] = []
        self.ended: tuple[StreamEnded, ...] = ()  # in the next snapshot
        self.live: tuple[LiveStream, ...] = ()  # in the next snapshot
        self.refusal = 0
        self.attempts = 0  # to send a message
        self._readers: list[web.WebSocketResponse] = []

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve streams, messages and reports."""
        return [
            web.put("/streams/{id}", self._set_up),
            web.put("/streams/{id}/messages/{message}", self._send),
            web.delete("/streams/{id}", self._delete),
            web.get("/reports", self._report),
        ]

    async def report(self, report: Report) -> None:
        """Send a report to all engines."""
        await self.report_text(_encode(report).decode())

    async def report_text(self, text: str) -> None:
        """Send a text to all engines."""
        await until(lambda: bool(self._readers), what="a reader of reports")
        for reader in self._readers:
            await reader.send_str(text)

    async def disconnect(self) -> None:
        """End the connections of all readers."""
        readers, self._readers = self._readers, []
        for reader in readers:
            await reader.close()

    async def _set_up(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        if self.refusal:
            return web.json_response({"detail": "refused"}, status=self.refusal)
        body = msgspec.json.decode(await request.read(), type=StreamSetup)
        self.setups.setdefault(request.match_info["id"], body)
        return web.Response(status=201)

    async def _send(self, request: web.Request) -> web.Response:
        self.attempts += 1
        if self.refusal:
            return web.json_response({"detail": "refused"}, status=self.refusal)
        match = request.match_info
        self.messages.append((match["id"], match["message"], json.loads(await request.read())))
        return web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        self.deleted.append(request.match_info["id"])
        return web.Response(status=204)

    async def _report(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(_encode(Snapshot(self.live, self.ended)).decode())
        self._readers.append(socket)
        async for _ in socket:
            pass
        return socket
