"""The TCP proxy, which can cut a connection."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until


class Echo:
    """A server that sends back what it receives."""

    def __init__(self) -> None:
        self.heard = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        while data := await reader.read(100):
            self.heard += data
            writer.write(data)
        writer.close()


@pytest.fixture
def echo() -> Echo:
    """Provide the server."""
    return Echo()


@pytest.fixture
async def port(echo: Echo) -> AsyncIterator[int]:
    """Run the server."""
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
async def wire(port: int) -> AsyncIterator[TcpProxy]:
    """Run a proxy in front of the server."""
    async with TcpProxy(port) as made:
        yield made


async def exchange(port: int) -> None:
    """Let another proxy forward something there and back, which takes the loop some turns."""
    async with TcpProxy(port) as other:
        reader, writer = await asyncio.open_connection("127.0.0.1", other.port)
        writer.write(b".")
        assert await reader.readexactly(1) == b"."
        writer.close()


async def test_what_is_sent_goes_there_and_back(wire: TcpProxy) -> None:
    """The proxy forwards bytes both ways, and the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(b"hello")
    assert await reader.readexactly(5) == b"hello"
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()


async def test_a_cut_wire_holds_back(wire: TcpProxy, echo: Echo, port: int) -> None:
    """While it is cut, nothing arrives and nothing ends; after a restore everything arrives."""
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(b"one")
    await until(lambda: echo.heard == b"one", what="the first word")
    wire.cut()
    writer.write(b"two")
    await exchange(port)
    assert echo.heard == b"one."
    wire.restore()
    await until(lambda: echo.heard == b"one.two", what="the second word")
    assert await reader.readexactly(6) == b"onetwo"
    writer.close()


async def test_who_connects_to_a_cut_wire_waits(wire: TcpProxy, echo: Echo, port: int) -> None:
    """A new connection to a cut proxy is neither refused nor served until it is restored."""
    wire.cut()
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(b"hello")
    await exchange(port)
    assert echo.heard == b"."
    wire.restore()
    assert await reader.readexactly(5) == b"hello"
    writer.close()
