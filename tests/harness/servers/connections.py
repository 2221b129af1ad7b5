"""TCP connections of programs on this machine."""

from pathlib import Path

_ESTABLISHED = "01"  # proc(5) has the states of Linux in hexadecimal digits


def count_connections(port: int) -> int:
    """Return how many clients are connected with a port of 127.0.0.1."""
    local = f"0100007F:{port:04X}"
    lines = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(fields[1] == local and fields[3] == _ESTABLISHED for fields in lines)
