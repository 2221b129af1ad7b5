"""Where the store is, as an operator writes it: a server, or sentinels that know the primary.

`redis://:password@host:6379/0`, `rediss://…` over TLS, `unix:///path`, and
`redis+sentinel://:password@host1:26379,host2:26379/service/0` (`rediss+sentinel://` over TLS).
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

SENTINEL_SUFFIX = "+sentinel"
SENTINEL_PORT = 26379
SCHEMES = ("redis", "rediss", "unix")
ALLOWED = "redis://, rediss://, unix://, redis+sentinel:// and rediss+sentinel://"


class StoreAddress(Struct, frozen=True):
    """Parsed: `plain` is one server's, in place of the sentinels' if there are some."""

    url: str
    redacted: str  # without what is secret
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""  # of the primary, as the sentinels know it


def parse_address(url: str) -> StoreAddress:
    """Parse an address; raises ValueError, which says what is allowed."""
    scheme, _, rest = url.partition("://")
    base = scheme.removesuffix(SENTINEL_SUFFIX)
    if base not in SCHEMES or not rest or (base == "unix" and scheme != base):
        raise ValueError(f"the store's address begins with {ALLOWED}")
    shown = f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    if scheme == base:
        return StoreAddress(url, shown)
    login, at, places = rest.rpartition("@")
    hosts, _, path = places.partition("/")
    path, mark, query = path.partition("?")
    service, _, number = path.partition("/")
    if not service:
        raise ValueError("behind the sentinels stands the primary's name: …:26379/mymaster/0")
    sentinels = tuple(_host_ports(hosts))
    return StoreAddress(
        f"{base}://{login}{at}primary/{number}{mark}{query}", shown, sentinels, service
    )


def _host_ports(hosts: str) -> Iterator[tuple[str, int]]:
    for each in hosts.split(","):
        place = urlsplit(f"//{each}")
        if not place.hostname:
            raise ValueError("sentinels are named host:port, with commas between them")
        yield place.hostname, place.port or SENTINEL_PORT
