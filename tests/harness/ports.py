"""Free ports on this machine: each test starts its own servers, so none is ever fixed.

They lie below those that Linux gives to connections (from 32768) and above Asterisk's RTP, and are
given in turn: between a port's choice and its use nobody else gets it, nor while a server that had
it is started again. So there are more than all tests take. Ports for media come from elsewhere, and
have their neighbours for themselves: SIPp takes the next but one, too, and RTCP goes to the next.
"""

import os
import socket
from collections.abc import Iterable, Iterator
from itertools import chain, cycle


def _in_turn(ports: range) -> Iterator[int]:
    begin = os.getpid() * 97 % len(ports)  # other processes begin elsewhere
    return cycle(chain(ports[begin:], ports[:begin]))


_turns = _in_turn(range(25_000, 30_000))
_media_turns = _in_turn(range(30_000, 32_764, 4))


def free_port() -> int:
    """Return a port that is free on 127.0.0.1, in TCP and in UDP."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return that many different ports, each free on 127.0.0.1 in TCP and in UDP."""
    return [next(port for port in _turns if _is_free(port)) for _ in range(count)]


def media_port() -> int:
    """Return a port for what is taken at once, which has three more above it."""
    return next(port for port in _media_turns if _is_free(port))


def taken_ports(ports: Iterable[int]) -> list[int]:
    """Return those of the ports that something on this machine listens on, in TCP or in UDP."""
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
