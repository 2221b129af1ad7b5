"""Websockets of phones in browsers: who may open one, how many, and what passes to the node."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from api.http.websocket_frames import MAX_FRAMES, MAX_FRAMES_OF_ACCOUNT
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.serving import Served, serve_rest
from tests.harness.until import until

OWN, CUSTOMERS, FOREIGN = "http://phones.example", "https://crm.example", "https://evil.example"
LIFE_MS = 60_000
HANDSHAKE = {
    "Host": "phones.example",
    "Origin": OWN,
    "Upgrade": "websocket",
    "Connection": "keep-alive, Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "sip",
    "Sec-WebSocket-Extensions": "permessage-deflate",
    "X-Evil": "passed on",
}
ACCEPTS = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
FORBIDS = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"


class Connection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self) -> str:
        return (await self.reader.readuntil(b"\r\n\r\n")).decode()


class Node:
    """The HTTP server of a PBX node, which answers each handshake with the same response."""

    def __init__(self, response: bytes) -> None:
        self._response = response
        self.requests: list[str] = []
        self.connections: list[Connection] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            for each in self.connections:
                each.writer.close()
            server.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        self.requests.append(await connection.head())
        writer.write(self._response)
        self.connections.append(connection)


class Scene(NamedTuple):
    node: Node
    rest: Served
    clock: ManualClock
    stack: AsyncExitStack

    def ticket(self, account: str = "acme", key_id: str = "k1") -> str:
        tickets = self.rest.services.phone_logins.tickets
        return tickets.issue(account, key_id, self.clock() + LIFE_MS)

    async def open(
        self, ticket: str, headers: Mapping[str, str] = HANDSHAKE, path: str = "/srmain/phones/0"
    ) -> tuple[int, Connection]:
        """Send a handshake; return the status of the response."""
        host, _, port = self.rest.url.removeprefix("http://").partition(":")
        connection = Connection(*await asyncio.open_connection(host, int(port)))
        self.stack.callback(connection.writer.close)
        lines = (f"{name}: {value}" for name, value in headers.items())
        head = "\r\n".join((f"GET {path}?ticket={ticket} HTTP/1.1", *lines, "", ""))
        connection.writer.write(head.encode())
        return int((await connection.head()).split(" ")[1]), connection


@asynccontextmanager
async def running(folder: Path, response: bytes = ACCEPTS) -> AsyncIterator[Scene]:
    """Run a REST layer before a node."""
    node, clock = Node(response), ManualClock()
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(node.running())
        settings: dict[str, Any] = {
            "api_phone_url": OWN.replace("http", "ws"),
            "api_phone_nodes": (f"http://127.0.0.1:{port}",),
            "api_max_phones": 3,
            "api_max_phones_of_account": 2,
            "cors_origins": (CUSTOMERS,),
        }
        rest = serve_rest(sqlite_url(folder), clock=clock, **settings)
        yield Scene(node, await stack.enter_async_context(rest), clock, stack)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with running(tmp_path) as found:
        yield found


@pytest.mark.parametrize("origin", [OWN, CUSTOMERS])
async def test_bytes_pass_in_both_directions(scene: Scene, origin: str) -> None:
    """The node knows the REST layer by its address, and gets no header that a browser chooses."""
    status, browser = await scene.open(scene.ticket(), HANDSHAKE | {"Origin": origin})
    assert status == 101
    (node,), (request,) = scene.node.connections, scene.node.requests
    assert node.writer.get_extra_info("peername")[0] == "127.0.0.2"
    assert request.startswith("GET /ws HTTP/1.1\r\n")
    assert f"Sec-WebSocket-Key: {HANDSHAKE['Sec-WebSocket-Key']}\r\n" in request
    assert not {"Origin", "X-Evil", "Sec-WebSocket-Extensions"} & set(request.split())
    browser.writer.write(b"REGISTER")
    assert await node.reader.readexactly(8) == b"REGISTER"
    node.writer.write(b"INVITE" * 100_000)
    assert await browser.reader.readexactly(600_000) == b"INVITE" * 100_000
    node.writer.close()
    assert await browser.reader.read() == b""


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Origin": FOREIGN}, 403),
        ({"Origin": f"{OWN}.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec-WebSocket-Protocol": "mqtt"}, 400),
        ({"Sec-WebSocket-Version": "8"}, 400),
        ({"Sec-WebSocket-Key": "x\tX-Evil: 1"}, 400),
    ],
)
async def test_a_handshake_that_is_refused(
    scene: Scene, changed: dict[str, str], status: int
) -> None:
    """Of a page of others, or of no phone; the node hears nothing of it."""
    assert (await scene.open(scene.ticket(), HANDSHAKE | changed))[0] == status
    assert not scene.node.requests


async def test_a_page_without_an_origin(scene: Scene) -> None:
    """It is refused, and so is one that names two."""
    without = {name: value for name, value in HANDSHAKE.items() if name != "Origin"}
    for headers in (without, HANDSHAKE | {"origin": FOREIGN}):
        assert (await scene.open(scene.ticket(), headers))[0] == 403
    assert not scene.node.requests


async def test_a_stranger_has_no_ticket(scene: Scene) -> None:
    """None, one of another account with this account's signature, an endless and an expired one."""
    account, key, seconds, signature = scene.ticket().split(".")
    forged = (
        f"other.{key}.{seconds}.{signature}",
        f"{account}.k2.{seconds}.{signature}",
        f"{account}.{key}.9999999999.{signature}",
        f"{account}...",
    )
    for ticket in ("", "x", "%ff", "x&a=1&b=2&c=3&d=4&e=5", *forged):
        assert (await scene.open(ticket))[0] == 403
    expired = scene.ticket()
    scene.clock.now += LIFE_MS + 1_000
    assert (await scene.open(expired))[0] == 403
    assert not scene.node.requests


@pytest.mark.parametrize("path", ["/ws", "/srmain/phones/1", "/srmain/phones/0/../../ari", "/ari"])
async def test_nothing_else_of_the_node_is_reached(scene: Scene, path: str) -> None:
    """Only the websocket of a node that is listed has an address."""
    assert (await scene.open(scene.ticket(), path=path))[0] == 404
    assert not scene.node.requests


async def test_a_node_that_refuses_gets_no_other_request(tmp_path: Path) -> None:
    """What a browser sends after its handshake is no request to the node."""
    async with running(tmp_path, FORBIDS) as scene:
        status, browser = await scene.open(scene.ticket())
        assert status == 502
        browser.writer.write(b"GET /ari/channels HTTP/1.1\r\n\r\n")
        (node,) = scene.node.connections
        assert await node.reader.read() == b""
        await until(lambda: not count(scene), what="the websocket to end")


async def test_a_phone_that_floods_is_cut_off(scene: Scene) -> None:
    """The node gets nothing of it, and other phones go on; its account opens no further one."""
    empty = b"\x8a\x80mask"
    _, quiet = await scene.open(scene.ticket())
    for _ in range(MAX_FRAMES_OF_ACCOUNT // MAX_FRAMES):
        status, flooding = await scene.open(scene.ticket())
        assert status == 101
        flooding.writer.write(empty * 20_000)
        with suppress(ConnectionError):
            assert await flooding.reader.read() == b""
        assert await scene.node.connections[-1].reader.read() == b""
    quiet.writer.write(empty * 10)
    assert await scene.node.connections[0].reader.readexactly(60) == empty * 10
    assert (await scene.open(scene.ticket()))[0] == 429
    assert (await scene.open(scene.ticket("other")))[0] == 101


async def test_each_account_has_a_share(scene: Scene) -> None:
    """One that takes all it can leaves room for others, and gets more when some have ended."""
    opened = [await scene.open(scene.ticket()) for _ in range(3)]
    assert [status for status, _ in opened] == [101, 101, 429]
    assert [(await scene.open(scene.ticket("other")))[0] for _ in range(2)] == [101, 503]
    opened[0][1].writer.close()
    await until(lambda: count(scene) == 2, what="the websocket to end")
    assert (await scene.open(scene.ticket()))[0] == 101


async def test_websockets_end_with_their_key(scene: Scene) -> None:
    """A ticket would open others until it expires."""
    ticket, other = scene.ticket(), scene.ticket(key_id="k2")
    opened = [await scene.open(each) for each in (ticket, other)]
    scene.rest.services.phone_websockets.end({("acme", "k1")})
    assert await opened[0][1].reader.read() == b""
    assert [(await scene.open(each))[0] for each in (ticket, other)] == [403, 101]


def count(scene: Scene) -> float:
    """Return how many websockets the metric shows."""
    (metric,) = scene.rest.services.metrics.phone_websockets.collect()
    return sum(each.value for each in metric.samples)
