"""Heads of requests that are too large, or never end: their connections do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.responses import PlainTextResponse

from api.http.header_limits import MAX_HEADER_BYTES, HeaderLimits
from tests.contract.api.rest import settings_for
from tests.contract.api.serving import NOWHERE, running

BEGUN = b"GET / HTTP/1.1\r\nHost: x\r\n"


class Impatient(HeaderLimits):
    """It waits a short time."""

    timeout_s = 0.3


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect to a service that answers everything."""
    settings = settings_for("sqlite+aiosqlite:///nowhere", NOWHERE)
    async with running(settings, PlainTextResponse("here"), Impatient) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()


@pytest.mark.parametrize(
    "head", [b"A: " + b"a" * MAX_HEADER_BYTES, b"A: a\r\n" * (MAX_HEADER_BYTES // 6)]
)
async def test_a_head_has_a_size(head: bytes) -> None:
    """One long line or many short ones: nothing of it is kept."""
    async with connected() as (reader, writer):
        writer.write(BEGUN + head)
        async with asyncio.timeout(5):
            with suppress(ConnectionError):  # closed with some of it unread
                assert await reader.read() == b""


@pytest.mark.parametrize("begun", [b"", BEGUN])
async def test_a_head_has_a_time(begun: bytes) -> None:
    """Who says nothing, or never comes to an end, holds no connection."""
    async with connected() as (reader, writer):
        writer.write(begun)
        async with asyncio.timeout(5):
            assert await reader.read() == b""


async def test_large_bodies_and_long_answers_are_no_heads() -> None:
    """A body may be larger than any head, and the next request come on the same connection."""
    body = b"b" * (2 * MAX_HEADER_BYTES)
    async with connected() as (reader, writer):
        for _ in range(2):
            length = str(len(body)).encode()
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + b"\r\n\r\n")
            writer.write(body)
            async with asyncio.timeout(5):
                assert b"200 OK" in await reader.readuntil(b"here")
