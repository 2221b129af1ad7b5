"""The client of a stream gateway: its requests, how often it connects again, and its log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import cast

import aiohttp
import msgspec
import pytest
from structlog.testing import capture_logs

from engine.streams.client import GatewayClient, ReportListener
from engine.streams.errors import GatewayUnavailable, StreamRejected
from tests.harness.virtual_time import virtual_time
from wire.streams.reports import Report
from wire.streams.setup import BotAddress, StreamSetup, TextMessage

JSON = {"Authorization": "Bearer token", "Content-Type": "application/json"}


class ScriptedClient(GatewayClient):
    """A client whose connections are refused with these reasons; "": the gateway closes one."""

    def __init__(self, http: aiohttp.ClientSession, *reasons: str) -> None:
        super().__init__("http://gateway", "token", http, lambda: 1.0)
        self.tried_s: list[float] = []
        self._reasons = iter(reasons)

    async def _listen(self, listener: ReportListener) -> str:
        self.tried_s.append(asyncio.get_running_loop().time())
        if (reason := next(self._reasons, None)) is None:
            raise EOFError
        if not reason:
            listener.on_connected()
        return reason


class Log:
    """A listener that records its calls."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def on_connected(self) -> None:
        self.words.append("connected")

    def on_report(self, report: Report) -> None:
        raise AssertionError(report)

    def on_disconnected(self) -> None:
        self.words.append("disconnected")


@virtual_time
async def test_tries_become_rarer() -> None:
    """The longest wait doubles up to two seconds; after a connection it is the shortest again."""
    refusals = ["refused"] * 6
    async with aiohttp.ClientSession() as http:
        client, log = ScriptedClient(http, *refusals, "", "refused"), Log()
        with pytest.raises(EOFError):
            await client.run(log)
    waits_s = [round(to_s - from_s, 3) for from_s, to_s in pairwise(client.tried_s)]
    assert waits_s == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 0.1, 0.2]
    assert log.words == [*["disconnected"] * 6, "connected", "disconnected", "disconnected"]


@virtual_time
async def test_a_warning_names_the_gateway() -> None:
    """A node has several gateways; a reason that stays is logged once."""
    async with aiohttp.ClientSession() as http:
        with capture_logs() as logs, pytest.raises(EOFError):
            await ScriptedClient(http, "refused", "refused", "").run(Log())
    assert [(each["gateway"], each["event"]) for each in logs] == [
        ("http://gateway", "stream gateway not connected"),
        ("http://gateway", "stream gateway lost"),
    ]


class Reply:
    """A response of a gateway."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.ok = status < 400

    async def text(self) -> str:
        return "why"


class Http:
    """Answers all requests alike, or fails."""

    def __init__(self, result: int | Exception) -> None:
        self.sent: list[tuple[str, str, bytes]] = []
        self._result = result

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        data: bytes,
        headers: dict[str, str],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - as aiohttp has it
    ) -> AsyncIterator[Reply]:
        assert headers == JSON
        assert timeout.total
        self.sent.append((method, url, data))
        if isinstance(self._result, Exception):
            raise self._result
        yield Reply(self._result)


def client_of(http: Http) -> GatewayClient:
    """Return a client of a gateway below a path."""
    session = cast("aiohttp.ClientSession", http)
    return GatewayClient("http://gateway/1/", "token", session, lambda: 1.0)


async def test_what_a_gateway_is_sent() -> None:
    """A repeated request has the same address; a stream that has ended already is no error."""
    http = Http(404)
    client = client_of(http)
    setup = StreamSetup("ws://pbx/", BotAddress("wss://bot/", "native"), "acme", "c")
    await client.set_up("c.w1", setup)
    await client.send("c.w1", "7", TextMessage("hello"))
    await client.end("c.w1")
    assert http.sent == [
        ("PUT", "http://gateway/1/streams/c.w1", msgspec.json.encode(setup)),
        ("PUT", "http://gateway/1/streams/c.w1/messages/7", b'{"type":"text","text":"hello"}'),
        ("DELETE", "http://gateway/1/streams/c.w1", b""),
    ]


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (400, StreamRejected, "why"),
        (413, StreamRejected, "why"),
        (422, StreamRejected, "why"),
        (401, GatewayUnavailable, "status 401: why"),
        (503, GatewayUnavailable, "status 503: why"),
        (aiohttp.ServerDisconnectedError(), GatewayUnavailable, ""),
        (OSError(), GatewayUnavailable, ""),
        (TimeoutError(), GatewayUnavailable, ""),
    ],
)
async def test_a_request_fails(result: int | Exception, error: type[Exception], text: str) -> None:
    """What no other gateway could do is rejected; another one may do all else."""
    with pytest.raises(error) as raised:
        await client_of(Http(result)).end("c.w1")
    assert text in str(raised.value)
