"""Connections to the store, wherever it is: to a server, or to the primary that sentinels name."""

from typing import Any

from redis.asyncio import ConnectionPool, Sentinel, SSLConnection
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import NoBackoff

from engine.store.redis.address import StoreAddress

SENTINEL_OPTION_PREFIX = (
    "sentinel_"  # options of an address that are theirs: `?sentinel_password=…`
)


def create_pool(address: StoreAddress, timeout_s: float) -> ConnectionPool:
    """Make a pool; nothing is asked yet. Timeouts around a whole request are the asker's own."""
    # One repetition, for an idle connection that the server has closed: all requests here may
    # be repeated.
    ours: dict[str, Any] = {
        "protocol": 2, "socket_timeout": None, "retry": Retry(NoBackoff(), 1)
    }  # fmt: skip
    if not address.sentinels:
        return ConnectionPool.from_url(address.url, **ours)
    options = _options(address.url)
    theirs = {
        name.removeprefix(SENTINEL_OPTION_PREFIX): options.pop(name)
        for name in list(options)
        if name.startswith(SENTINEL_OPTION_PREFIX)
    }
    theirs |= {name: value for name, value in options.items() if name.startswith("ssl")}
    limits = {"socket_timeout": timeout_s / 2, "socket_connect_timeout": timeout_s / 2}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]  # redis-py's own, as the next
        list(address.sentinels), sentinel_kwargs={**limits, **theirs}
    )
    return SentinelConnectionPool(  # type: ignore[no-untyped-call]
        address.service, sentinel, **options, **ours
    )


def _options(plain: str) -> dict[str, Any]:
    options = dict(parse_url(plain))
    del options["host"]
    if options.pop("connection_class", None) is SSLConnection:
        options["ssl"] = True
    return options
