"""Connection pools: to a server, to the primary that sentinels name, or to a cluster's node.

A request that blocks holds its connection for seconds, and customers decide how many there are. So
these have their own share of the connections, and no number of them delays what calls, leases and
readiness read. Scripts have a connection of their own (`script_connection.py`).
"""

import asyncio
from collections.abc import Awaitable
from types import CoroutineType
from typing import Any

from redis.asyncio import ConnectionPool, Sentinel, SSLConnection
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from engine.store.errors import StoreDown
from engine.store.redis.address import StoreAddress

MAX_REQUESTS = 64  # at once; more wait in order
# Reads that block at once: as many as event streams, consumer groups, and polls and responses of
# listeners may be open together (tests/unit/store/redis/test_pool.py), and a subscription's.
MAX_BLOCKED_READS = 401
# Beside them, a connection that is subscribed to changes, and one that reads a cluster's map.
MAX_CONNECTIONS = MAX_REQUESTS + MAX_BLOCKED_READS + 2
SENTINEL_OPTION_PREFIX = "sentinel_"  # of an address's options for them: `?sentinel_password=…`


class TimedRequests:
    """Awaits requests, each with a time limit, and with a connection for as long as it runs."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._requests = asyncio.Semaphore(MAX_REQUESTS)
        self._blocked_reads = asyncio.Semaphore(MAX_BLOCKED_READS)

    async def __call__(self, request: Awaitable[Any], wait_s: float = 0.0) -> Any:
        """Await a request that may itself block for `wait_s`; raises StoreDown."""
        connections = self._blocked_reads if wait_s else self._requests
        try:
            async with asyncio.timeout(self._timeout_s + wait_s), connections:
                return await request
        except TimeoutError:
            raise StoreDown(f"no answer in {self._timeout_s} s") from None
        except (RedisError, OSError) as error:
            raise StoreDown(f"{type(error).__name__}: {error}") from error
        finally:
            if isinstance(request, CoroutineType):
                request.close()  # it has not begun if no connection was free in time


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
    retry = Retry(NoBackoff(), 1)
    return {
        "protocol": 2,
        "socket_timeout": None,
        "retry": retry,
        "max_connections": MAX_CONNECTIONS,
    }


def _options(url: str) -> dict[str, Any]:
    options = dict(parse_url(url))
    del options["host"]
    if options.pop("connection_class", None) is SSLConnection:
        options["ssl"] = True
    return options
