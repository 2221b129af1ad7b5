"""A proxy to a server that can lose replies."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class LossyProxy:
    """Forwards bytes both ways; `lose_next` closes the connection instead of the next reply.

    `loses_all` does so each time, `loses_scripts` whenever a script was sent; `replacement`
    replaces each reply. Clients may use TLS.
    """

    def __init__(self, server_port: int, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._server_port = server_port
        self.port = 0
        self.lose_next = False
        self.loses_all = False
        self.loses_scripts = False
        self.replacement: bytes | None = None
        self.lost = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["LossyProxy"]:
        """Listen on a free port of this machine."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        forwarding = asyncio.create_task(self._forward(reader, server_writer))
        while reply := await server_reader.read(65_536):
            if self.lose_next or self.loses_all:
                self.lose_next = False
                self.lost += 1
                break
            writer.write(reply if self.replacement is None else self.replacement)
        writer.close()
        server_writer.close()
        await forwarding

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            self.lose_next = self.lose_next or (self.loses_scripts and b"EVAL" in data)
            writer.write(data)
        writer.close()
