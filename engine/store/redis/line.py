"""One connection to the store: bytes out, answers in, without a task or a stream in between."""

import asyncio
from collections.abc import Callable
from typing import cast

from hiredis import ProtocolError, Reader
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection

Answer = int | bytes


class Refusal(Exception):
    """The server's own words why it did not do what it was asked."""


class Line(asyncio.Protocol):
    """Tells every answer, in order, and once that it was lost; nothing after it was closed."""

    def __init__(
        self, answered: Callable[[Answer | Refusal], None], lost: Callable[[], None]
    ) -> None:
        self._answered = answered
        self._lost = lost
        self._reader = Reader(replyError=Refusal)
        self._connection: AbstractConnection | None = None
        self._transport: asyncio.Transport | None = None

    async def open(self, pool: ConnectionPool) -> None:
        """Connect as the pool does: by its address, over TLS, logged in, to the primary.

        Raises RedisError and OSError.
        """
        connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]  # redis-py's own
        await connection.connect()  # type: ignore[no-untyped-call]  # redis-py's own
        # What redis-py reads by is a stream and a task's turn for each answer: half of a commit's
        # CPU. It has no other door to its transport.
        writer = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001 - see above
        self._connection, self._transport = connection, cast("asyncio.Transport", writer.transport)
        self._transport.set_protocol(self)

    def write(self, data: bytes) -> None:
        """Send."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Hang up, and tell nothing more."""
        connection, transport = self._connection, self._transport
        self._connection = self._transport = None
        if transport is not None:
            transport.abort()  # what a server that hangs has not read yet, it is not to do later
        if connection is not None:
            # What is awaited to hang up does just this, at once.
            connection._close()  # type: ignore[no-untyped-call]  # noqa: SLF001  # redis-py's own

    def data_received(self, data: bytes) -> None:
        """Take what came; who speaks something else is no store, and is left."""
        try:
            self._reader.feed(data)
            while self._transport is not None and (answer := self._reader.gets()) is not False:
                self._answered(answer)
        except ProtocolError:
            self._lost()

    def connection_lost(self, _error: Exception | None) -> None:
        """Tell it, unless it was closed here."""
        if self._transport is not None:
            self._lost()
