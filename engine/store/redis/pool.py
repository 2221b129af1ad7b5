"""Connection pools: to a server, to the primary that sentinels name, or to a cluster's node."""

from typing import Any

from redis.asyncio import ConnectionPool, Sentinel, SSLConnection
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import NoBackoff

from engine.store.redis.address import StoreAddress

SENTINEL_OPTION_PREFIX = "sentinel_"  # of an address's options for them: `?sentinel_password=…`


def create_pool(address: StoreAddress, timeout_s: float) -> ConnectionPool:
    """Create a pool without connecting. Callers time out whole requests themselves."""
    if not address.sentinels:
        return ConnectionPool.from_url(address.url, **_pool_options())
    options = _options(address.url)
    sentinel_options = {
        name.removeprefix(SENTINEL_OPTION_PREFIX): options.pop(name)
        for name in list(options)
        if name.startswith(SENTINEL_OPTION_PREFIX)
    }
    sentinel_options |= {name: value for name, value in options.items() if name.startswith("ssl")}
    limits = {"socket_timeout": timeout_s / 2, "socket_connect_timeout": timeout_s / 2}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]  # untyped in redis-py
        list(address.sentinels), sentinel_kwargs={**limits, **sentinel_options}
    )
    return SentinelConnectionPool(  # type: ignore[no-untyped-call]  # untyped in redis-py
        address.service, sentinel, **options, **_pool_options()
    )


def create_node_pool(address: StoreAddress, location: tuple[str, int]) -> ConnectionPool:
    """Create a pool to a node of a cluster, without connecting."""
    options: dict[str, Any] = {**parse_url(address.url)}
    options["host"], options["port"] = location
    return ConnectionPool(**options, **_pool_options())


def _pool_options() -> dict[str, Any]:
    # One retry, for an idle connection that the server has closed: every request here may be
    # repeated.
    return {"protocol": 2, "socket_timeout": None, "retry": Retry(NoBackoff(), 1)}


def _options(url: str) -> dict[str, Any]:
    options = dict(parse_url(url))
    del options["host"]
    if options.pop("connection_class", None) is SSLConnection:
        options["ssl"] = True
    return options
