"""Hosts and ports of addresses, as far as a pattern cannot check them."""

from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from wire.decoding.errors import BadInput


def host_and_port(address: str, path: str) -> tuple[str, int | None]:
    """Return the host of an address, and the port if there is one; raises BadInput."""
    try:
        parts = urlsplit(address)
        host, port = _checked_host(parts.hostname or ""), parts.port
    except ValueError:
        host, port = "", None
    if not host or port == 0:
        raise BadInput(path, "expected a host, and a port of 1 to 65535", "bad_url")
    return host, port


def _checked_host(host: str) -> str:
    """Return a host; raises ValueError if it looks like an IP address, but is not a valid one."""
    if ":" in host:
        IPv6Address(host)
    elif host.removesuffix(".").rpartition(".")[2].isdecimal():  # no domain ends so: RFC 3696, 2
        IPv4Address(host.removesuffix("."))
    return host
