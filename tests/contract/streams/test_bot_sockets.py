"""Connections to bots that are not up yet, through sockets."""

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest

from streams.bots.destinations import DestinationLookups, Destinations
from streams.bots.dialer import PendingConnections
from streams.bots.lookups import Lookups, look_up
from streams.bots.socket import BotSocket
from tests.harness.until import MAX_WAIT_S
from wire.streams.reports import EndReason
from wire.streams.setup import BotAddress, StreamSetup


class NoStream:
    """Hears nothing of a bot that never answers."""

    def read_text(self, data: bytes) -> None:
        raise AssertionError(data)

    def read_binary(self, data: bytes) -> None:
        raise AssertionError(data)

    def bot_lost(self, reason: EndReason, detail: str) -> None:
        raise AssertionError(reason, detail)


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
    address = BotAddress(f"ws://127.0.0.1:{port}/", "twilio", networks=("127.0.0.0/8",))
    trust = ssl.create_default_context()
    setup = StreamSetup("ws://pbx", address, "account", "call")
    with ThreadPoolExecutor(1) as threads:
        lookups = Lookups(look_up, threads, 1)
        found = Destinations(trust, None, trust, DestinationLookups(lookups, lookups))
        destination = found.find(setup, "")
    async with server:
        connecting = BotSocket(NoStream()).connect(destination, PendingConnections())
        attempt = asyncio.create_task(connecting)
        async with asyncio.timeout(MAX_WAIT_S):
            await requested.wait()
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        async with asyncio.timeout(MAX_WAIT_S):
            await ended.wait()
