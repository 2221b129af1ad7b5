"""Free ports on this machine: each test starts its own servers, so none is ever fixed."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


def free_port() -> int:
    """Return a port that is free on 127.0.0.1, in TCP and in UDP."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return that many different ports, each free on 127.0.0.1 in TCP and in UDP."""
    with ExitStack() as held:
        return [held.enter_context(_held_port()) for _ in range(count)]


@contextmanager
def _held_port() -> Iterator[int]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        try:
            udp.bind(("127.0.0.1", port))
        except OSError:  # taken in UDP: another one, while this one is held
            with _held_port() as other:
                yield other
            return
        yield port
