"""A port whose queue of new connections is full, as that of a busy Asterisk."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SYN_SENT = "02"  # proc(5) has the states of Linux in hexadecimal digits


@contextmanager
def full_queue() -> Iterator[socket.socket]:
    """Yield a listening socket to which nobody can connect before it accepts."""
    with socket.socket() as listening, socket.socket() as first:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        first.connect(listening.getsockname())
        yield listening


def connecting_ports(port: int) -> set[int]:
    """Return the ports from which programs wait to be connected with a port of 127.0.0.1."""
    remote = f"0100007F:{port:04X}"
    lines = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return {
        int(local.rpartition(":")[2], 16)
        for _, local, peer, state, *_ in lines
        if peer == remote and state == _SYN_SENT
    }
