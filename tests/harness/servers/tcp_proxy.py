"""A TCP proxy that can hold all traffic back, like a dead network."""

import asyncio
import ssl
from typing import Self

from tests.harness.ports import free_port

CHUNK = 65_536


class TcpProxy:
    """Forwards a port of its own to another port of 127.0.0.1; with `tls`, its clients need TLS.

    `target_port` may be set later, before the first connection. Connections stay open while it is
    cut; data sent meanwhile arrives late, after `restore`.
    """

    def __init__(self, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.port = free_port()
        self.target_port = port
        self._tls = tls
        self._open = asyncio.Event()
        self._open.set()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self.port, ssl=self._tls
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def cut(self) -> None:
        """Hold all data back."""
        self._open.clear()

    def restore(self) -> None:
        """Forward everything again, first what was held back."""
        self._open.set()

    async def drop(self) -> None:
        """Close all connections; others may be opened."""
        connections = tuple(self._connections)
        for each in connections:
            each.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._relay(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._open.wait()
            remote_reader, remote_writer = await asyncio.open_connection(
                "127.0.0.1", self.target_port
            )
            try:
                await asyncio.gather(
                    self._pump(reader, remote_writer), self._pump(remote_reader, writer)
                )
            finally:
                remote_writer.close()
        except OSError:
            return  # one end has closed; closing the other end reports it
        finally:
            writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        await self._open.wait()
        writer.close()
