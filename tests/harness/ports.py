"""Free ports on this machine; each test starts its own servers, so no port is fixed.

The range lies below Linux's ephemeral ports (from 32768) and above Asterisk's RTP. Ports are handed
out in turn, so that a port is not chosen again before its server has bound it or has restarted.
Media ports come from a separate range in steps of four, because SIPp also uses the port two above
and RTCP uses the next one.
"""

import os
import socket
from collections.abc import Iterable, Iterator
from itertools import chain, cycle


def _in_turn(ports: range) -> Iterator[int]:
    begin = os.getpid() * 97 % len(ports)  # other processes start elsewhere in the range
    return cycle(chain(ports[begin:], ports[:begin]))


_turns = _in_turn(range(25_000, 30_000))
_media_turns = _in_turn(range(30_000, 32_764, 4))


def free_port() -> int:
    """Return a port that is free on 127.0.0.1 for TCP and UDP."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return `count` different ports, each free on 127.0.0.1 for TCP and UDP."""
    return [next(port for port in _turns if _is_free(port)) for _ in range(count)]


def media_port() -> int:
    """Return a free port for media; the three ports above it are reserved, too."""
    return next(port for port in _media_turns if _is_free(port))


def taken_ports(ports: Iterable[int]) -> list[int]:
    """Return the ports on which something on this machine listens, over TCP or UDP."""
    return [port for port in ports if not _is_free(port)]


def _is_free(port: int) -> bool:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections may linger
        try:
            tcp.bind(("127.0.0.1", port))
            udp.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
