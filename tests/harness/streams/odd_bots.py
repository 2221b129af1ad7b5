"""Bots that misbehave: raw TCP servers, some of which speak the websocket protocol."""

import asyncio
import base64
import hashlib
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(behaviour: Behaviour) -> AsyncIterator[str]:
    """Run a server whose connections behave so; yield its ws address."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            await behaviour(reader, writer)
        except ConnectionError:
            pass  # the gateway has closed it
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/bot"
    finally:
        for writer in writers:
            writer.transport.abort()
        server.close()


def answering(text: str) -> Behaviour:
    """Return a server that answers each request with this text."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(text.encode())
        await writer.drain()

    return behave


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Read the request, and never answer."""
    await reader.readuntil(b"\r\n\r\n")
    await reader.read()


async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept a websocket."""
    shake_hands(await reader.readuntil(b"\r\n\r\n"), writer)
    await writer.drain()


def shake_hands(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Answer the request for a websocket."""
    key = next(
        line.split(b": ")[1]
        for line in request.split(b"\r\n")
        if line.lower().startswith(b"sec-websocket-key")
    )
    accepted = base64.b64encode(hashlib.sha1(key + _GUID).digest())  # noqa: S324 - RFC 6455
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accepted + b"\r\n\r\n"
    )


def frame(kind: int, data: bytes, *, is_last: bool = True) -> bytes:
    """Return a frame of a server."""
    head = bytes([kind | (0x80 if is_last else 0)])
    if len(data) < 126:
        return head + bytes([len(data)]) + data
    if len(data) < 65536:
        return head + struct.pack("!BH", 126, len(data)) + data
    return head + struct.pack("!BQ", 127, len(data)) + data


def sending(*frames: bytes, reads: bool = True) -> Behaviour:
    """Return a bot that sends these frames, and then reads, or not, until it is closed."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept(reader, writer)
        for each in frames:
            writer.write(each)
            await writer.drain()
        if reads:
            await reader.read()
        else:
            reader._transport.pause_reading()  # type: ignore[attr-defined] # noqa: SLF001 - a StreamReader cannot stop
            await asyncio.Event().wait()

    return behave
