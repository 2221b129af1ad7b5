"""Connections are closed if their head is too large or never ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import PlainTextResponse

from api.http.header_limits import MAX_FIELDS, MAX_HEADER_BYTES, HeaderLimits
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


LARGE = b"a" * MAX_HEADER_BYTES


@pytest.mark.parametrize(
    "head",
    [
        PARTIAL_HEADS + b"A: " + LARGE,
        PARTIAL_HEADS + b"A: " + LARGE + b"\r\n\r\n",
        PARTIAL_HEADS + b"A: a\r\n" * (MAX_FIELDS + 1),
        b"GET /?" + LARGE + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
async def test_heads_have_a_maximum_size(head: bytes) -> None:
    """A long line, whether it is complete, or many short ones are rejected."""
    async with connected() as (reader, writer):
        writer.write(head)
        async with asyncio.timeout(MAX_WAIT_S):
            # All but a few bytes have been read when the connection is closed.
            assert (await reader.readline()).startswith(b"HTTP/1.1 431 ")


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
