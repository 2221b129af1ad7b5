"""The store's address as operators write it: a server, sentinels that know it, or a cluster.

`redis://:password@host:6379/0`, `rediss://…` over TLS, `unix:///path`, and
`redis+sentinel://:password@host1:26379,host2:26379/service/0` (`rediss+sentinel://` over TLS),
`redis+cluster://:password@host1:6379,host2:6379` (`rediss+cluster://` over TLS): some of its nodes.
"""

import ipaddress
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

SENTINEL_SUFFIX = "+sentinel"
SENTINEL_PORT = 26379
CLUSTER_SUFFIX = "+cluster"
CLUSTER_PORT = 6379
SCHEMES = ("redis", "rediss", "unix")
ALLOWED = (
    "redis://, rediss://, unix://, redis+sentinel://, rediss+sentinel://,"
    " redis+cluster:// and rediss+cluster://"
)


class StoreAddress(Struct, frozen=True):
    """A parsed address; with sentinels or a cluster, `url` has `primary` as its host."""

    url: str
    redacted: str  # without secrets
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""  # the primary's name at the sentinels
    cluster: tuple[tuple[str, int], ...] = ()  # some nodes of a cluster

    @property
    def is_encrypted(self) -> bool:
        """Whether nothing is sent in clear text over a network."""
        return not self.url.startswith("redis://") or all(map(_is_loopback, self.hosts))

    @property
    def has_password(self) -> bool:
        parts = urlsplit(self.url)
        return bool(parts.password or parse_qs(parts.query).get("password"))

    @property
    def is_open(self) -> bool:
        """Whether whoever reaches another host's port may read and write everything."""
        return not self.is_encrypted and not self.has_password

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the server, the sentinels or the cluster; none for a socket's path."""
        if named := self.sentinels or self.cluster:
            return tuple(host for host, _ in named)
        return tuple(filter(None, (urlsplit(self.url).hostname,)))

    @property
    def ports(self) -> frozenset[int]:
        """The ports of the server, the sentinels or the cluster."""
        if named := self.sentinels or self.cluster:
            return frozenset(port for _, port in named)
        port = urlsplit(self.url).port
        return frozenset() if port is None else frozenset({port})


def parse_address(url: str) -> StoreAddress:
    """Parse an address; raises ValueError with the allowed forms."""
    scheme, _, rest = url.partition("://")
    base = next((each for each in SCHEMES if scheme == each or _is_of_several(scheme, each)), None)
    if base is None or not rest:
        raise ValueError(f"the store's address must begin with {ALLOWED}")
    redacted = f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    if scheme == base:
        return StoreAddress(url, redacted)
    login, at, location = rest.rpartition("@")
    location, mark, query = location.partition("?")
    hosts, _, path = location.partition("/")
    if scheme == base + CLUSTER_SUFFIX:
        if path not in {"", "0"}:
            raise ValueError("a cluster has one database: nothing or /0 must follow its nodes")
        nodes = tuple(_host_ports(hosts, CLUSTER_PORT))
        return StoreAddress(f"{base}://{login}{at}primary{mark}{query}", redacted, cluster=nodes)
    service, _, number = path.partition("/")
    if not service:
        raise ValueError("the primary's name must follow the sentinels: …:26379/mymaster/0")
    sentinels = tuple(_host_ports(hosts, SENTINEL_PORT))
    return StoreAddress(
        f"{base}://{login}{at}primary/{number}{mark}{query}", redacted, sentinels, service
    )


def _is_of_several(scheme: str, base: str) -> bool:
    suffixes = (SENTINEL_SUFFIX, CLUSTER_SUFFIX)
    return base != "unix" and scheme in {base + suffix for suffix in suffixes}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _host_ports(hosts: str, default_port: int) -> Iterator[tuple[str, int]]:
    for each in hosts.split(","):
        host = urlsplit(f"//{each}")
        if not host.hostname:
            raise ValueError("sentinels and nodes must be host:port, separated by commas")
        yield host.hostname, host.port or default_port
