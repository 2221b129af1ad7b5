"""Connections are closed if their head is too large or never ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.responses import PlainTextResponse

from api.http.header_limits import MAX_HEADER_BYTES, HeaderLimits
from tests.harness.api.rest import settings_for
from tests.harness.api.serving import NOWHERE, run_server
from tests.harness.until import MAX_WAIT_S

PARTIAL_HEADS = b"GET / HTTP/1.1\r\nHost: x\r\n"


class Impatient(HeaderLimits):
    """Header limits with a short timeout."""

    timeout_s = 1.5


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect to a service that accepts every request."""
    settings = settings_for("sqlite+aiosqlite:///nowhere", NOWHERE)
    async with run_server(settings, PlainTextResponse("here"), Impatient) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()


@pytest.mark.parametrize(
    "head", [b"A: " + b"a" * MAX_HEADER_BYTES, b"A: a\r\n" * (MAX_HEADER_BYTES // 6)]
)
async def test_heads_have_a_maximum_size(head: bytes) -> None:
    """One long line or many short ones close the connection."""
    async with connected() as (reader, writer):
        writer.write(PARTIAL_HEADS + head)
        async with asyncio.timeout(MAX_WAIT_S):
            with suppress(ConnectionError):  # closed before all was read
                assert await reader.read() == b""


@pytest.mark.parametrize(
    ("line", "status", "code"),
    [
        (b"FOO / HTTP/1.1\r\nHost: x\r\n\r\n", 501, "method_not_allowed"),
        (b"get / HTTP/1.1\r\nHost: x\r\n\r\n", 501, "method_not_allowed"),
        (b"GET / HTTP/x\r\nHost: x\r\n\r\n", 400, "invalid"),
        (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400, "invalid"),
    ],
)
async def test_what_is_no_request_gets_a_problem(line: bytes, status: int, code: str) -> None:
    """A client reads it as any other problem; 405 would have to name the path's methods."""
    async with connected() as (reader, writer):
        writer.write(line)
        async with asyncio.timeout(MAX_WAIT_S):
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"content-type: application/problem+json" in head
    assert f"content-length: {len(body)}".encode() in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["type"] == f"/docs/errors/{code}"


@pytest.mark.parametrize("started", [b"", PARTIAL_HEADS])
async def test_heads_have_a_timeout(started: bytes) -> None:
    """An incomplete head closes the connection after the timeout."""
    async with connected() as (reader, writer):
        writer.write(started)
        async with asyncio.timeout(MAX_WAIT_S):
            assert await reader.read() == b""


async def test_bodies_and_responses_are_not_limited_as_heads() -> None:
    """A body may exceed the limit of heads, and the connection stays open."""
    body = b"b" * (2 * MAX_HEADER_BYTES)
    async with connected() as (reader, writer):
        for _ in range(2):
            length = str(len(body)).encode()
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + b"\r\n\r\n")
            writer.write(body)
            async with asyncio.timeout(MAX_WAIT_S):
                assert b"200 OK" in await reader.readuntil(b"here")
