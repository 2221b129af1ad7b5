"""The client of a stream gateway: its requests, how often it connects again, and its log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Self, cast

import aiohttp
import msgspec
import pytest
from structlog.testing import capture_logs

from engine.runtime.streams.gateway_client import (
    CONNECT_TIMEOUT_S,
    FIRST_RETRY_S,
    HEARTBEAT_S,
    GatewayClient,
    GatewayUnavailable,
    ReportListener,
    StreamRejected,
)
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
        self.words.append(type(report).__name__)

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
        client = ScriptedClient(http, "refused", "refused", "timeout", "", "timeout")
        with capture_logs() as logs, pytest.raises(EOFError):
            await client.run(Log())
    assert {each["gateway"] for each in logs} == {"http://gateway"}
    lost, not_connected = "stream gateway lost", "stream gateway not connected"
    assert [(each["event"], each.get("reason")) for each in logs] == [
        (not_connected, "refused"), (not_connected, "timeout"), (lost, None),
        (not_connected, "timeout"),
    ]  # fmt: skip


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


class Reports(AsyncIterator[aiohttp.WSMessage]):
    """A websocket on which a gateway sends messages, or which breaks after them."""

    def __init__(self, *messages: aiohttp.WSMessage | Exception) -> None:
        self._messages = iter(messages)
        self.is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.is_closed = True

    async def __anext__(self) -> aiohttp.WSMessage:
        message = next(self._messages, None)
        if message is None:
            raise StopAsyncIteration
        if isinstance(message, Exception):
            raise message
        return message


class ReportHttp:
    """Connects one websocket after another, or fails; at the end, stops the test."""

    def __init__(self, *results: Reports | Exception | None) -> None:
        self._results = iter(results)

    async def ws_connect(self, url: str, *, headers: dict[str, str], heartbeat: float) -> Reports:
        assert (url, headers) == ("http://gateway/1/reports", {"Authorization": "Bearer token"})
        assert heartbeat == HEARTBEAT_S
        result = next(self._results, EOFError())
        if isinstance(result, Exception):
            raise result
        if result is None:  # it does not answer
            await asyncio.Event().wait()
        assert result is not None
        return result


def text(data: str) -> aiohttp.WSMessage:
    """Return a text of a gateway."""
    return aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, data, None)


SNAPSHOT = '{"type":"snapshot","live":[],"ended":[],"isDraining":false}'


async def heard(*results: Reports | Exception | None) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what a listener learns, and what is logged with which reason or error."""
    client, log = client_of(cast("Http", ReportHttp(*results))), Log()
    with capture_logs() as logs, pytest.raises(EOFError):
        await client.run(log)
    whys = [str(each.get("reason", each.get("error", ""))) for each in logs]
    return log.words, [(each["event"], why) for each, why in zip(logs, whys, strict=True)]


@virtual_time
async def test_reports_are_passed_on() -> None:
    """Texts; other messages have no meaning, and after the last one another try is made."""
    reports = Reports(
        text(SNAPSHOT),
        aiohttp.WSMessage(aiohttp.WSMsgType.BINARY, b"", None),
        text('{"type":"draining"}'),
    )
    words, logs = await heard(reports)
    assert words == ["connected", "Snapshot", "DrainStarted", "disconnected"]
    assert logs == [("stream gateway lost", "")]
    assert reports.is_closed


@pytest.mark.parametrize(
    "fault", [text("no report"), OSError("no route"), aiohttp.ClientError("no route")]
)
@virtual_time
async def test_a_connection_whose_reports_cannot_be_read_is_made_again(
    fault: aiohttp.WSMessage | Exception,
) -> None:
    """The next snapshot has all of them."""
    words, logs = await heard(Reports(fault), Reports(text(SNAPSHOT)))
    again = ["connected", "Snapshot", "disconnected"]
    assert words == ["connected", "disconnected", *again]
    assert [event for event, _ in logs] == [
        "stream gateway: reports unreadable", "stream gateway lost", "stream gateway lost",
    ]  # fmt: skip
    assert not isinstance(fault, Exception) or logs[0][1] == "no route"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (aiohttp.WSServerHandshakeError(cast("aiohttp.RequestInfo", None), (), status=401),
         "status 401"),
        (aiohttp.ServerDisconnectedError(), "closed"),
        (OSError(), "no HTTP response"),
        (None, "timeout"),
    ],
)  # fmt: skip
@virtual_time
async def test_a_connection_that_is_not_made_has_a_reason(
    error: Exception | None, reason: str
) -> None:
    """A gateway that does not answer is given up after a while."""
    words, logs = await heard(error)
    assert words == ["disconnected"]
    assert logs == [("stream gateway not connected", reason)]
    waited_s = asyncio.get_running_loop().time()
    assert waited_s == pytest.approx(
        2 * FIRST_RETRY_S + (CONNECT_TIMEOUT_S if error is None else 0)
    )


class Turns(Log):
    """A listener that counts the turns of the event loop while it is connected."""

    def on_connected(self) -> None:
        super().on_connected()
        self._count_turn()

    def _count_turn(self) -> None:
        if "disconnected" not in self.words:
            self.words.append("turn")
            asyncio.get_running_loop().call_soon(self._count_turn)


@virtual_time
async def test_others_have_their_turns_between_reports() -> None:
    """However many have arrived at once: the actions of bots take long to read."""
    reports = Reports(*[text('{"type":"draining"}')] * 20)
    client, turns = client_of(cast("Http", ReportHttp(reports))), Turns()
    with pytest.raises(EOFError):
        await client.run(turns)
    assert turns.words.count("DrainStarted") == 20
    assert ("DrainStarted", "DrainStarted") not in pairwise(turns.words)
