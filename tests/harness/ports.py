"""Free ports on this machine: each test starts its own servers, so none is ever fixed."""

import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager


def free_port() -> int:
    """Return a port that is free on 127.0.0.1, in TCP and in UDP."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return that many different ports, each free on 127.0.0.1 in TCP and in UDP."""
    with ExitStack() as held:
        return [held.enter_context(_held_port()) for _ in range(count)]


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
