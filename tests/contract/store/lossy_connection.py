"""A line to a server that can lose an answer."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class LossyLine:
    """Passes bytes both ways; `lose_next` cuts the line where the next answer would come back.

    `loses_all` cuts it there each time, `says` is said in place of each answer. It may speak TLS on
    the near side.
    """

    def __init__(self, server_port: int, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._server_port = server_port
        self.port = 0
        self.lose_next = False
        self.loses_all = False
        self.says: bytes | None = None
        self.lost = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["LossyLine"]:
        """Listen on a free port of this machine."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        there = asyncio.create_task(self._there(reader, far_writer))
        while answer := await far_reader.read(65_536):
            if self.lose_next or self.loses_all:
                self.lose_next = False
                self.lost += 1
                break
            writer.write(answer if self.says is None else self.says)
        writer.close()
        far_writer.close()
        await there

    async def _there(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()
