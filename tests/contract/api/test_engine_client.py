"""Requests of the REST layer to several engines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from api.common.errors import (
    ApiError,
    Conflict,
    InvalidRequest,
    NotFound,
    ServiceUnavailable,
    TooManyRequests,
)
from api.engine_client import EngineClient, EngineUnavailable
from base.loop_cost import CHARGE

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Engine:
    """Answers each request with the same bytes, or closes the connection without any."""

    def __init__(self, response: bytes) -> None:
        self.requests = 0
        self._response = response

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        await reader.readuntil(b"\r\n\r\n")
        self.requests += 1
        writer.write(self._response)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def client_of(*engines: Engine) -> AsyncIterator[EngineClient]:
    """Run engines, and a client that asks them in this order."""
    servers = [await asyncio.start_server(each.serve, "127.0.0.1", 0) for each in engines]
    urls = [f"http://127.0.0.1:{each.sockets[0].getsockname()[1]}" for each in servers]
    async with aiohttp.ClientSession() as http:
        yield EngineClient(http, [urls[-1], *urls[:-1]])  # the second one is the first in turn
    for server in servers:
        server.close()
        await server.wait_closed()


async def test_a_read_without_a_response_is_repeated() -> None:
    """At the next engine."""
    failing, other = Engine(b""), Engine(OK)
    async with client_of(failing, other) as client:
        assert await client.request_raw("GET", "/calls") == b"{}"
    assert failing.requests > 0  # aiohttp repeats a read by itself, too
    assert other.requests == 1


async def test_a_change_without_a_response_is_not_repeated() -> None:
    """The engine may have made it, as a call that another one would start once more."""
    failing, other = Engine(b""), Engine(OK)
    async with client_of(failing, other) as client:
        with pytest.raises(EngineUnavailable):
            await client.request_raw("POST", "/calls", {})
    assert (failing.requests, other.requests) == (1, 0)


@pytest.mark.parametrize("status", [200, 404])
async def test_the_cost_of_a_request_is_charged(status: int) -> None:
    """As the engine says it, also in an error."""
    charged: list[float] = []
    costly = Engine(response(status, b"{}", "Server-Timing: cpu;dur=21.5"))
    async with client_of(Engine(OK), costly) as client:
        CHARGE.set(charged.append)
        for _ in range(2):
            with suppress(ApiError):
                await client.request_raw("GET", "/calls")
    assert sorted(charged) == [0, 0.0215]


PROBLEM = b'{"type":"about:blank","title":"t","status":1,"detail":"%b","code":"c"}'


def response(status: int, body: bytes, *headers: str) -> bytes:
    """Return the bytes of a response."""
    head = "\r\n".join([f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers])
    return f"{head}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("status", "body", "headers", "expected"),
    [
        (400, PROBLEM % b"d", (), (InvalidRequest, "d", "c", None)),
        (404, PROBLEM % b"", (), (NotFound, "t", "c", None)),
        (409, PROBLEM % b"d", ("Retry-After: 9",), (Conflict, "d", "c", None)),
        (429, PROBLEM % b"d", ("Retry-After: 9",), (TooManyRequests, "d", "c", 9)),
        (429, PROBLEM % b"", (), (TooManyRequests, "t", "c", 1)),
        (503, PROBLEM % b"d", ("Retry-After: x",), (ServiceUnavailable, "d", "c", 1)),
        (503, PROBLEM % b"", ("Retry-After: 9",), (ServiceUnavailable, "t", "c", 9)),
        (
            500,
            PROBLEM % b"d",
            ("Retry-After: 9",),
            (EngineUnavailable, "an engine can't do this now (HTTP 500)", "no_engine", 9),
        ),
        (
            404,
            b"<html>",
            (),
            (
                EngineUnavailable,
                "something else answers where an engine should (HTTP 404)",
                "no_engine",
                None,
            ),
        ),
    ],
)
async def test_the_error_of_an_engine(
    status: int, body: bytes, headers: tuple[str, ...], expected: tuple[object, ...]
) -> None:
    """It is raised as it is; what no engine sends is an engine that is not there."""
    failing, other = Engine(response(status, body, *headers)), Engine(OK)
    async with client_of(failing, other) as client:
        with pytest.raises(ApiError) as raised:
            await client.request_raw("GET", "/calls")
    error = raised.value
    assert (type(error), error.detail, error.code, error.retry_after_s) == expected
    assert other.requests == 0


@pytest.mark.parametrize(("status", "is_repeated"), [(503, True), (404, False)])
async def test_a_stream_is_opened_at_an_engine_with_room(status: int, *, is_repeated: bool) -> None:
    """Another engine is asked only if the first one has none."""
    full, other = Engine(response(status, PROBLEM % b"d")), Engine(OK)
    async with client_of(full, other) as client:
        if is_repeated:
            async with client.stream("/events", {}, {}) as lines:
                assert await lines.read() == b"{}"
        else:
            with pytest.raises(NotFound):
                async with client.stream("/events", {}, {}):
                    pass
    assert (full.requests, other.requests) == (1, int(is_repeated))
