"""Ports on this machine that programs use."""

import socket
from collections.abc import Iterable
from pathlib import Path

_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def taken_ports(ports: Iterable[int]) -> list[int]:
    """Return the ports on which something on this machine listens, over TCP or UDP."""
    return [port for port in ports if not is_free(port)]


def is_udp_bound(port: int) -> bool:
    """Return whether a program has bound a UDP port; unlike `taken_ports`, without binding it."""
    return f":{port:04X} " in Path("/proc/net/udp").read_text()


def outgoing_ports() -> range:
    """Return the ports of outgoing connections: the kernel gives each a free one."""
    try:
        first, last = map(int, _OUTGOING.read_text().split())
    except (OSError, ValueError):  # a kernel without it
        return range(32_768, 61_000)
    return range(first, last + 1)


def is_free(port: int) -> bool:
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
