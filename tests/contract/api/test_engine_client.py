"""Requests of the REST layer to several engines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from api.engine_client import EngineClient, EngineUnavailable

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
