"""Rejects connections into private networks for every request to a customer's address.

The guard creates the socket, so it checks the final address of each connection, whatever the name
resolved to. A custom resolver would not do: aiohttp connects to IP literals without a resolver.
"""

import socket
from errno import EACCES
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network

from aiohttp import ClientConnectorError, ClientSession, ClientTimeout, DummyCookieJar
from aiohttp.abc import AbstractResolver
from aiohttp.connector import AddrInfoType
from msgspec import Struct

from base.response_limits import READ_BUFFER_BYTES, LimitedConnector

Network = IPv4Network | IPv6Network

# A list beside ipaddress, whose is_global was wrong for some ranges before CVE-2024-4032.
_DENIED: tuple[Network, ...] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network; 0.0.0.0 reaches this machine
            "10.0.0.0/8",
            "100.64.0.0/10",  # carriers' NAT, a cloud's metadata (100.100.100.200)
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's host agent, though of a public range
            "169.254.0.0/16",  # link-local, metadata services
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments, a cloud's metadata (192.0.0.192)
            "192.0.2.0/24",
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "64:ff9b::/96",  # NAT64: any IPv4 address inside
            "64:ff9b:1::/48",
            "2001::/23",  # Teredo (an IPv4 address inside), ORCHID, benchmarks
            "2001:db8::/32",
            "2002::/16",  # 6to4: any IPv4 address inside
            "3fff::/20",
        ),
    )
)
# All unicast IPv6 allocated so far: excludes ::1, ::ffff:0:0/96, fc00::/7, fe80::/10, ff00::/8.
_GLOBAL_V6 = IPv6Network("2000::/3")


# SSH, Telnet, mail, DNS, directories, files, databases and caches: a request to their ports is an
# attack on a service that takes the lines of a body as commands.
_SERVICE_PORTS = frozenset(
    {
        *(21, 22, 23, 25, 53, 110, 111, 119, 135, 139, 143, 179, 389, 445, 465, 512, 513, 514, 587),
        *(636, 993, 995, 1433, 1521, 2049, 2181, 3306, 3389, 5038, 5060, 5061, 5432, 5900, 6379),
        *(9200, 9300, 11211, 15672, 16379, 26379, 27017),
        *(161, 623, 873, 1099, 4222, 5672, 5984, 5985, 5986, 6000, 8009, 9042, 9092, 9222),
    }
)
# What controls machines, containers and clusters: Docker, etcd, Kubernetes, Nomad, Vault, Consul,
# Prometheus, its exporter and its alerts.
_CONTROL_PORTS = frozenset(
    {
        *(2375, 2376, 2377, 2379, 2380, 4646, 6443, 8200, 8300, 8500, 8501, 9090, 9093, 9100),
        *(10250, 10255, 10256, 10257, 10259),
    }
)
# Our own, where examples and the lab have them. Not 8000, which is in the REST layer the port of
# customers, and of many applications in development.
_OWN_PORTS = frozenset({5039, 5062, 5063, 6390, 8001, 8070, 8071, 8088, 8089, 8095, 8096})
_DENIED_PORTS = _SERVICE_PORTS | _CONTROL_PORTS | _OWN_PORTS
WEB_PORTS = frozenset({80, 443})  # of customers, whatever else is there
MAX_HEADER_BYTES = 65_536  # of one field: policies and cookies of proxies exceed aiohttp's 8,190


class AddressRefused(PermissionError):
    """An address that requests may not reach; aiohttp's error for it names the host."""

    def __init__(self, address: str) -> None:
        super().__init__(EACCES, f"requests to {address} are not allowed")


class AddressGuard(Struct, frozen=True):
    """Creates a connector's sockets, to public addresses and to those in `allow` only.

    `deny` has more networks that are refused, such as the operator's own public ones, and `ports`
    more ports, those of the installation. Ports are refused everywhere, also in `allow`.
    """

    allow: tuple[Network, ...] = ()
    deny: tuple[Network, ...] = ()
    ports: frozenset[int] = frozenset()

    def __call__(self, info: AddrInfoType) -> socket.socket:
        """Create a socket for one resolved address; raises AddressRefused."""
        family, kind, protocol, _, address = info
        self.check(str(address[0]), int(address[1]))
        return socket.socket(family, kind, protocol)

    def check(self, address: str, port: int) -> None:
        """Raise AddressRefused for a private or denied IP address, and for a denied port."""
        if port in _DENIED_PORTS or port in self.ports - WEB_PORTS:
            raise AddressRefused(f"{address} port {port}")
        is_denied = _is_in(address, self.deny) or not is_public(address)
        if is_denied and not _is_in(address, self.allow):
            raise AddressRefused(address)

    def check_plain(self, address: str) -> None:
        """Raise AddressRefused for an address outside `allow`: no clear text leaves those."""
        if not _is_in(address, self.allow):
            raise AddressRefused(f"{address} without TLS")


def _is_in(address: str, networks: tuple[Network, ...]) -> bool:
    return any(ip_address(address) in network for network in networks)


def is_public(address: str) -> bool:
    """Return whether an IP address is public and embeds no other address."""
    ip = ip_address(address)
    if any(ip in network for network in _DENIED) or not ip.is_global or ip.is_multicast:
        return False
    return isinstance(ip, IPv4Address) or ip in _GLOBAL_V6


def is_address_refused(error: BaseException) -> bool:
    """Return whether the guard rejected a failed request (all of the host's addresses)."""
    # aiohappyeyeballs joins several rejections into one PermissionError.
    return isinstance(error, ClientConnectorError) and isinstance(error.os_error, PermissionError)


def guarded_session(  # noqa: PLR0913 - all but the first are keywords
    allow: tuple[Network, ...] = (),
    *,
    deny: tuple[Network, ...] = (),
    ports: frozenset[int] = frozenset(),
    limit: int = 200,
    limit_per_host: int = 20,
    resolver: AbstractResolver | None = None,
) -> ClientSession:
    """Open a session for customers' addresses: guarded, TLS verified, no cookies, proxies or netrc.

    Callers pass `allow_redirects=False`. A rejection is a ClientConnectorError (see is_refusal).
    """
    connector = LimitedConnector(
        socket_factory=AddressGuard(allow, deny, ports),
        limit=limit,
        limit_per_host=limit_per_host,
        resolver=resolver,
        use_dns_cache=False,  # of all accounts: they would wait for each other's lookups
    )
    return ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        trust_env=False,
        timeout=ClientTimeout(total=15, sock_connect=5),
        headers={"User-Agent": "switchroom"},
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
        read_bufsize=READ_BUFFER_BYTES,
    )
