"""The event loop of the programs."""

import socket
from typing import Any

import uvloop


class EventLoop(uvloop.Loop):
    """uvloop's, in which a connection to an address waits for no lookup of a name.

    Its `sock_connect` resolves also what is an address, and names no kind of socket: without one,
    a thread does it, and two slow names hold all threads that uvloop has for that.
    """

    async def getaddrinfo(  # noqa: PLR0913 - as the base class has them
        self,
        host: str | bytes | None,
        port: str | bytes | int | None,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - as the base class calls it
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Return addresses, of an address at once; raises OSError."""
        kind = type or socket.SOCK_STREAM
        return await super().getaddrinfo(
            host, port, family=family, type=kind, proto=proto, flags=flags
        )
