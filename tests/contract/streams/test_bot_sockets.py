"""Connections to bots through sockets: those that are not up yet, and those that end."""

import asyncio
import socket
import ssl
import struct
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha1
from urllib.parse import urlsplit

import pytest

from base.lookups import Lookups, look_up
from streams.bots.destinations import Destination, DestinationLookups, Destinations
from streams.bots.dialer import PendingConnections
from streams.bots.limits import MAX_MESSAGE_BYTES, MAX_UNSENT_BYTES
from streams.bots.loop_shares import LoopShares
from streams.bots.socket import BotSocket
from tests.harness.streams.odd_bots import CLOSE, PING, TEXT, accept, frame, serving
from tests.harness.until import MAX_WAIT_S
from wire.streams.reports import EndReason
from wire.streams.setup import BotAddress, StreamSetup

GOODBYE = frame(CLOSE, struct.pack(">H", 1000))  # RFC 6455, section 5.5.1
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3


class NoStream:
    """Hears nothing of a bot that never answers."""

    loop_share = LoopShares().join("acme")

    def read_text(self, data: bytes) -> None:
        raise AssertionError(data)

    def read_binary(self, data: bytes) -> None:
        raise AssertionError(data)

    def count_frame(self, size: int) -> None:
        raise AssertionError(size)

    def bot_lost(self, reason: EndReason, detail: str) -> None:
        raise AssertionError(reason, detail)


class EndingStream(NoStream):
    """Learns why its bot has gone."""

    def __init__(self) -> None:
        self.end: asyncio.Future[tuple[EndReason, str]] = asyncio.Future()
        self.texts: list[bytes] = []

    def read_text(self, data: bytes) -> None:
        self.texts.append(data)

    def count_frame(self, size: int) -> None:
        pass  # as long as a limit is not exceeded

    def bot_lost(self, reason: EndReason, detail: str) -> None:
        self.end.set_result((reason, detail))


class ClosingBot:
    """A bot that closes as its server's library does, without reading what was sent to it."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._connection: socket.socket | None = None

    def accept(self) -> None:
        """Accept one connection and its handshake."""
        self._connection, _ = self._listening.accept()
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            request += self._connection.recv(4_096)
        (key,) = (
            line.partition(b": ")[2]
            for line in request.split(b"\r\n")
            if line.lower().startswith(b"sec-websocket-key")
        )
        accepted = b64encode(sha1(key + GUID).digest())  # noqa: S324 - RFC 6455 has SHA-1
        self._connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n" % accepted
        )

    def close(self) -> None:
        """Say goodbye, and reset the connection."""
        assert self._connection is not None
        self._connection.sendall(GOODBYE)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._connection.close()


def destination_at(port: int) -> Destination:
    """Return the destination of a bot on this machine."""
    address = BotAddress(f"ws://127.0.0.1:{port}/", "twilio", networks=("127.0.0.0/8",))
    trust = ssl.create_default_context()
    setup = StreamSetup("ws://pbx", address, "account", "call")
    with ThreadPoolExecutor(1) as threads:
        lookups = Lookups(look_up, threads, 1)
        found = Destinations(trust, None, trust, DestinationLookups(lookups, lookups))
        return found.find(setup, "")


@contextmanager
def closing_bot() -> Iterator[tuple[ClosingBot, Destination]]:
    """Serve one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield ClosingBot(listening), destination_at(listening.getsockname()[1])


async def test_a_socket_to_a_bot_waits_for_nothing() -> None:
    """The kernel keeps less than what a bot may leave unread: more would not be counted."""
    with (
        closing_bot() as (_, destination),
        await destination.dialer.open(destination.parsed()) as opened,
    ):
        assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not opened.getblocking()
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < MAX_UNSENT_BYTES


async def test_a_bot_closes_while_it_is_sent_audio() -> None:
    """Its goodbye counts, although what was sent at the same time could not arrive."""
    stream = EndingStream()
    bot_socket = BotSocket(stream)
    with closing_bot() as (bot, destination):
        accepting = asyncio.to_thread(bot.accept)
        await asyncio.gather(accepting, bot_socket.connect(destination, PendingConnections()))
        bot.close()
        for _ in range(3):
            bot_socket.send_text(b"audio")
        async with asyncio.timeout(MAX_WAIT_S):
            assert await stream.end == ("bot-closed", "")


@pytest.mark.parametrize("answer", [b"\x03\xe8", b"", b"\x03\xf1", None])
async def test_a_message_is_too_large(answer: bytes | None) -> None:
    """That is the reason, also if the bot answers the close in the ordinary way; it is not read."""
    large = frame(TEXT, b"x" * (MAX_MESSAGE_BYTES + 1))

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept(reader, writer)
        writer.write(large if answer is None else large + frame(CLOSE, answer))
        await reader.read()

    stream = EndingStream()
    bot_socket = BotSocket(stream)
    async with serving(behave) as url:
        destination = destination_at(urlsplit(url).port or 0)
        await bot_socket.connect(destination, PendingConnections())
        async with asyncio.timeout(MAX_WAIT_S):
            assert (await stream.end)[0] == "too-large"
    assert not stream.texts


@pytest.mark.parametrize("flood", [frame(PING, b"") * 50_000, frame(11, b"x" * 1_000) * 2_000])
async def test_a_bot_that_floods_does_not_flood_the_log(
    flood: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """It sends pings, or bytes that are not a frame, and leaves before they are answered."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept(reader, writer)
        writer.write(flood)
        await writer.drain()
        writer.transport.abort()

    stream = EndingStream()
    bot_socket = BotSocket(stream)
    async with serving(behave) as url:
        destination = destination_at(urlsplit(url).port or 0)
        await bot_socket.connect(destination, PendingConnections())
        async with asyncio.timeout(MAX_WAIT_S):
            assert (await stream.end)[0] == "bot-lost"
    assert not [each for each in caplog.records if each.name != "asyncio"]


async def test_a_bot_that_never_answers_keeps_no_connection() -> None:
    """The server reads the end of the connection when the attempt is given up."""
    requested, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        requested.set()
        await reader.read()
        ended.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        connecting = BotSocket(NoStream()).connect(destination_at(port), PendingConnections())
        attempt = asyncio.create_task(connecting)
        async with asyncio.timeout(MAX_WAIT_S):
            await requested.wait()
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        async with asyncio.timeout(MAX_WAIT_S):
            await ended.wait()
