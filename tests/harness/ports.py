"""Free ports on this machine; each test starts its own servers, so no port is fixed.

The range lies below Linux's ephemeral ports (from 32768) and above Asterisk's RTP. Ports are handed
out in turn, so that a port is not chosen again before its server has bound it or has restarted.
Media ports come from a separate range in steps of four, because SIPp also uses the port two above
and RTCP uses the next one.
"""

import fcntl
import os
from functools import cache
from itertools import cycle
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
        self.turns = cycle(PORTS[index * size : (index + 1) * size])
        self.media_turns = cycle(MEDIA_PORTS[index * media_size : (index + 1) * media_size : 4])


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
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return `count` different ports, each free on 127.0.0.1 for TCP and UDP."""
    turns = _block().turns
    return [next(port for port in turns if is_free(port)) for _ in range(count)]


def media_port() -> int:
    """Return a free port for media; the three ports above it are reserved, too."""
    return next(port for port in _block().media_turns if is_free(port))
