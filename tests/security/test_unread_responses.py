"""Clients that do not read their responses keep no connection for ever."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest
from starlette.responses import PlainTextResponse, StreamingResponse

from api.http.header_limits import HeaderLimits
from tests.harness.api.rest import settings_for
from tests.harness.api.serving import NOWHERE, run_server
from tests.harness.until import until

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
PART_BYTES = 65_536
PARTS = 256  # more than the buffers of both sockets hold


class Impatient(HeaderLimits):
    """Limits with a short timeout; knows the open connections."""

    write_timeout_s = 1.0
    opened: ClassVar[set[HeaderLimits]] = set()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.opened.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.opened.discard(self)


class Unpaused(Impatient):
    """Buffers whole responses, as small ones are."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=2 * PARTS * PART_BYTES)


async def _parts() -> AsyncIterator[bytes]:
    for _ in range(PARTS):
        yield b"x" * PART_BYTES


async def streaming(scope: Any, receive: Any, send: Any) -> None:
    """Send the parts one by one."""
    await StreamingResponse(_parts())(scope, receive, send)


@asynccontextmanager
async def requested(
    app: object, protocol: type[HeaderLimits]
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Send a request, and read nothing yet."""
    settings = settings_for("sqlite+aiosqlite:///nowhere", NOWHERE)
    async with run_server(settings, app, protocol) as port:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.connect(("127.0.0.1", port))
            reader, writer = await asyncio.open_connection(sock=client, limit=PART_BYTES)
            writer.write(REQUEST)
            await until(lambda: bool(Impatient.opened), what="the connection")
            try:
                yield reader, writer
            finally:
                writer.close()


@pytest.mark.parametrize(
    ("app", "protocol"),
    [(streaming, Impatient), (PlainTextResponse(b"x" * PARTS * PART_BYTES), Unpaused)],
)
async def test_an_unread_response_is_closed(app: object, protocol: type[HeaderLimits]) -> None:
    """Whether the response waits for the client, or is complete and the connection closing."""
    async with requested(app, protocol):
        await until(lambda: not Impatient.opened, what="the end of the connection")


@pytest.mark.parametrize("protocol", [Impatient, Unpaused])
async def test_a_response_that_is_read_slowly_arrives(protocol: type[HeaderLimits]) -> None:
    """It may take longer than the timeout in all."""
    loop = asyncio.get_running_loop()
    read, began_s = 0, loop.time()
    async with requested(streaming, protocol) as (reader, _writer):
        while part := await reader.read(8 * PART_BYTES):
            read += part.count(b"x")
            if loop.time() - began_s < 3 * Impatient.write_timeout_s:
                await asyncio.sleep(0.05)  # as a slow client does
    assert read >= PARTS * PART_BYTES
