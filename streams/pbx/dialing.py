"""Opens sockets to a PBX.

Asterisk lets ten new connections wait. The kernel drops the request for another one, and repeats
it after a second and after three: too late for a caller who waits for a bot. So it is repeated
here, with another socket.
"""

import asyncio
import socket
from contextlib import suppress

from picows.url import WSParsedURL

REPEAT_AFTER_S = (0.2, 0.4)


async def open_socket(url: WSParsedURL) -> socket.socket:
    """Return a connected socket; the caller limits the time. Raises OSError."""
    for timeout_s in REPEAT_AFTER_S:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await _connected(url.host, url.port)
    return await _connected(url.host, url.port)


async def _connected(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    failed = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        found = socket.socket(family, kind, protocol)
        try:
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(found, address)
        except OSError as error:
            found.close()
            failed = error
        except BaseException:
            found.close()
            raise
        else:
            return found
    raise failed
