"""No connection holds the service: slow or idle, with many requests at once or tiny chunks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.header_limits import (
    BYTES_PER_CHUNK,
    MAX_CHUNKS,
    MAX_HEADER_BYTES,
    MAX_QUEUED,
    MAX_UNREAD_BYTES,
    MIN_BODY_BYTES_PER_S,
    HeaderLimits,
)
from engine.rpc.access import RpcAccess
from engine.rpc.server import serving
from tests.harness.api.rest import settings_for
from tests.harness.api.serving import NOWHERE, run_server
from tests.harness.ports import free_port
from tests.harness.rpc.scene import TOKEN, running
from tests.harness.until import MAX_WAIT_S, until

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


class Impatient(HeaderLimits):
    """Limits with a short timeout."""

    timeout_s = 1.5


async def reading(scope: Scope, receive: Receive, send: Send) -> None:
    """Read the body, and respond."""
    with suppress(Exception):  # the client has gone
        await Request(scope, receive).body()
        await PlainTextResponse("here")(scope, receive, send)


class Holding:
    """Responds to nothing; knows whose connections have ended."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended = 0

    async def __call__(self, _scope: Scope, receive: Receive, _send: Send) -> None:
        self.begun += 1
        while (await receive())["type"] != "http.disconnect":
            pass
        self.ended += 1


@asynccontextmanager
async def service(app: ASGIApp = reading, **settings: object) -> AsyncIterator[int]:
    """Run a service, by default one that reads bodies; yields its port."""
    found = settings_for("sqlite+aiosqlite:///nowhere", NOWHERE, **settings)
    async with run_server(found, app, Impatient) as port:
        yield port


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Wait until the service closes a connection."""
    async with asyncio.timeout(MAX_WAIT_S):
        with suppress(ConnectionError):
            return await reader.read() == b""
    return True


async def is_served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Send a request; return whether there is a response."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        writer.write(REQUEST)
        async with asyncio.timeout(MAX_WAIT_S):
            return b"200 OK" in await reader.readuntil(b"here")
    return False


async def test_a_slow_body_is_closed() -> None:
    """A body that stops, with however much of it sent, ends after the timeout."""
    async with service() as port:
        for started in (b"", b"x" * 100):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + started)
            assert await is_closed(reader)
            writer.close()


async def test_a_body_at_the_minimum_rate_arrives() -> None:
    """It may take longer than the timeout in all."""
    part = b"x" * round(MIN_BODY_BYTES_PER_S * Impatient.timeout_s)
    head = HEAD.replace(b"1000000", str(8 * len(part)).encode())
    loop = asyncio.get_running_loop()
    async with service() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        response = asyncio.ensure_future(reader.readuntil(b"here"))
        began_s = loop.time()
        for _ in range(8):
            writer.write(part)
            await asyncio.sleep(Impatient.timeout_s / 2)  # as a slow client does
        assert b"200 OK" in await response
        assert loop.time() - began_s > 2 * Impatient.timeout_s
        writer.close()


async def test_pipelined_requests_are_served_in_turn() -> None:
    """As many as may wait, with bodies, again and again."""
    bodies = (REQUEST, CHUNKED + b"1\r\nx\r\n0\r\n\r\n", HEAD.replace(b"1000000", b"1") + b"x")
    async with service() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(b"".join(bodies[number % 3] for number in range(MAX_QUEUED + 1)))
            for _ in range(MAX_QUEUED + 1):
                async with asyncio.timeout(MAX_WAIT_S):
                    assert b"200 OK" in await reader.readuntil(b"here")
        writer.close()


async def test_a_body_behind_an_upgrade_is_no_request() -> None:
    """A proxy that passes `Upgrade` on has taken it for a body."""
    upgrade = b"Connection: upgrade\r\nUpgrade: h2c\r\n"
    head = HEAD.replace(b"\r\n\r\n", b"\r\n" + upgrade + b"\r\n").replace(b"1000000", b"100")
    async with service() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        await writer.drain()
        async with asyncio.timeout(MAX_WAIT_S):
            assert b"200 OK" in await reader.readuntil(b"here")
        writer.write(REQUEST)
        assert await is_closed(reader)
        writer.close()


@pytest.mark.parametrize("next_ones", [REQUEST * (MAX_QUEUED + 1), b"FOO\r\n\r\n"])
async def test_a_queue_of_requests_ends(next_ones: bytes) -> None:
    """Too many, or no request: none gets the response of another one, and the first one ends."""
    app = Holding()
    async with service(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + next_ones)
        assert await is_closed(reader)
        await until(lambda: app.ended == 1, what="the end of the request")
        assert app.begun == 1
        writer.close()


@pytest.mark.parametrize(
    "excess",
    [
        b"1\r\na\r\n" * (MAX_CHUNKS + BYTES_PER_CHUNK),
        b"1;" + b"a" * 2 * MAX_HEADER_BYTES,
        b"0\r\n" + b"A: a\r\n" * MAX_HEADER_BYTES,
    ],
)
async def test_a_body_has_little_around_it(excess: bytes) -> None:
    """Tiny chunks, long extensions and many trailers close the connection."""
    async with service() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CHUNKED + excess)
        async with asyncio.timeout(MAX_WAIT_S):
            with suppress(ConnectionError):  # closed before all was read
                assert (await reader.read()).count(b"HTTP/1.1 ") == 1
        writer.close()


async def test_small_chunks_arrive() -> None:
    """A body may be sent by lines; its trailers are no headers."""
    chunk = b"%x\r\n%b\r\n" % (BYTES_PER_CHUNK, b"x" * BYTES_PER_CHUNK)
    headers = list[tuple[bytes, bytes]]()

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        await reading(scope, receive, send)
        headers.extend(scope["headers"])

    async with service(noting) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CHUNKED + chunk * 4 * MAX_CHUNKS + b"0\r\nX-Forwarded-For: y\r\n\r\n")
        async with asyncio.timeout(MAX_WAIT_S):
            assert b"200 OK" in await reader.readuntil(b"here")
        writer.close()
    assert b"x-forwarded-for" not in dict(headers)


@pytest.mark.parametrize(("sent", "closed"), [(MAX_UNREAD_BYTES // 2, False), (None, True)])
async def test_the_rest_of_a_body_that_has_its_response(sent: int | None, *, closed: bool) -> None:
    """Some of it is discarded, so that the client reads the response; no more."""
    length = sent or 2 * MAX_UNREAD_BYTES
    async with service(PlainTextResponse("here")) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD.replace(b"1000000", str(length).encode()))
        async with asyncio.timeout(MAX_WAIT_S):
            assert b"200 OK" in await reader.readuntil(b"here")
            writer.write(b"x" * length)
            assert await is_served(reader, writer) is not closed
        writer.close()


async def test_connections_of_an_address_are_limited() -> None:
    """Further ones are closed at once, and those that are open are served."""
    async with service(api_max_connections_of_address=2, api_proxies=("192.0.2.0/24",)) as port:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert await is_closed(opened[2][0])
        for reader, writer in opened[:2]:
            assert await is_served(reader, writer)
        for _, writer in opened:
            writer.close()


@pytest.mark.parametrize("started", [b"", REQUEST[:-2], HEAD + b"x", REQUEST])
async def test_a_connection_without_a_request_gives_way(started: bytes) -> None:
    """When all connections are open, as does one whose request has its response."""
    async with service(api_max_connections=2) as port:
        first = await asyncio.open_connection("127.0.0.1", port)
        first[1].write(started)
        if started == REQUEST:
            await first[0].readuntil(b"here")
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        assert await is_closed(first[0])
        assert [await is_served(*each) for each in opened] == [True, True]
        for _, writer in (first, *opened):
            writer.close()


class Authenticating:
    """Reads the bodies of an account; knows how many have begun."""

    def __init__(self) -> None:
        self.begun = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["caller"] = "acme"
        self.begun += 1
        await reading(scope, receive, send)


async def test_a_connection_with_a_request_stays() -> None:
    """While there is no response, or while an account sends its body: a further one is closed."""
    app = Holding()
    async with service(app, api_max_connections=1) as port:
        first = await asyncio.open_connection("127.0.0.1", port)
        first[1].write(REQUEST)
        await until(lambda: app.begun == 1, what="the request")
        second = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(second[0])
        assert app.ended == 0
        for _, writer in (first, second):
            writer.close()
    account = Authenticating()
    async with service(account, api_max_connections=1) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD.replace(b"1000000", b"20000") + b"x" * 10_000)
        await until(lambda: account.begun == 1, what="the request of the account")
        second = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(second[0])
        writer.write(b"x" * 10_000)
        async with asyncio.timeout(MAX_WAIT_S):
            assert b"200 OK" in await reader.readuntil(b"here")
        for each in (writer, second[1]):
            each.close()


async def test_proxies_have_no_limit_of_their_own() -> None:
    """All customers come from their address."""
    async with service(api_max_connections_of_address=1) as port:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        assert [await is_served(*each) for each in opened] == [True, True]
        for _, writer in opened:
            writer.close()


@pytest.mark.parametrize("started", [b"", b"GET /livez HT", REQUEST[:-2]])
async def test_an_engine_closes_unfinished_heads(tmp_path: Path, started: bytes) -> None:
    """On a new connection, and on one that has served a request."""
    port = free_port()
    async with running(tmp_path) as scene:
        impatient = replace(scene.dependencies, idle_timeout_s=0.3)
        async with serving(impatient, RpcAccess(scene.url, TOKEN), "127.0.0.1", port):
            for earlier in (b"", REQUEST):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(earlier + started)
                async with asyncio.timeout(MAX_WAIT_S):
                    assert (b"404" in await reader.read()) == bool(earlier)
                writer.close()
