"""Free ports on this machine; each test starts its own servers, so no port is fixed.

The range lies below Linux's ephemeral ports (from 32768) and above Asterisk's RTP. Ports are handed
out in turn, so that a port is not chosen again before its server has bound it or has restarted.
Media ports come from a separate range in steps of four, because SIPp also uses the port two above
and RTCP uses the next one.
"""

import fcntl
import os
from collections import deque
from functools import cache
from pathlib import Path
from typing import IO

from dev.servers.ports import is_free

BLOCKS = 12
PORTS = range(25_000, 30_000)
MEDIA_PORTS = range(30_000, 32_764)
# Ports are the machine's: a process with another TMPDIR must find the locks of all others.
LOCKS = Path("/tmp")  # noqa: S108 - the folder in it belongs to one user


class PortBlock:
    """The ports of this process: no other process on this machine hands them out.

    A port that a test has not bound yet, or not at the moment, looks free to others.
    """

    def __init__(self) -> None:
        index, self._lock = reserve_block(lock_folder(LOCKS))
        size, media_size = len(PORTS) // BLOCKS, len(MEDIA_PORTS) // BLOCKS // 4 * 4
        self.ports = deque(PORTS[index * size : (index + 1) * size])
        self.media_ports = deque(MEDIA_PORTS[index * media_size : (index + 1) * media_size : 4])


def lock_folder(parent: Path) -> Path:
    """Return this user's folder of locks: another user's files can't be opened."""
    return parent / f"switchroom-test-ports-{os.getuid()}"


def reserve_block(folder: Path) -> tuple[int, IO[bytes]]:
    """Lock a block until the process ends; return its index and its open lock file."""
    folder.mkdir(exist_ok=True)
    for index in range(BLOCKS):
        lock = (folder / str(index)).open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
        else:
            return index, lock
    raise RuntimeError(f"{BLOCKS} processes use test ports already")


_block = cache(PortBlock)


def free_port() -> int:
    """Return a port that is free on 127.0.0.1 for TCP and UDP."""
    return _next_free(_block().ports)


def free_ports(count: int) -> list[int]:
    """Return `count` different ports, each free on 127.0.0.1 for TCP and UDP."""
    return [free_port() for _ in range(count)]


def reserved_port() -> int:
    """Return a free port for a server that comes and goes: it is not handed out again."""
    port = free_port()
    _block().ports.remove(port)
    return port


def media_port() -> int:
    """Return a free port for media; the three ports above it are reserved, too."""
    return _next_free(_block().media_ports)


def _next_free(ports: deque[int]) -> int:
    """Return the next port that is free, and have its turn end."""
    for _ in range(len(ports)):
        port = ports[0]
        ports.rotate(-1)
        if is_free(port):
            return port
    raise RuntimeError("none of this process's test ports is free")
