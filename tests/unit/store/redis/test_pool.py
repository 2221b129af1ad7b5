"""The connection pools of a store with sentinels, and of a cluster; nothing is connected."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import SSLConnection
from redis.asyncio.sentinel import SentinelConnectionPool

from engine.listeners import MAX_READS
from engine.rpc.handlers.listeners import MAX_POLLS
from engine.rpc.middleware.concurrency_limit import MAX_STREAMS
from engine.store.errors import StoreDown
from engine.store.redis.address import parse_address
from engine.store.redis.pool import (
    MAX_BLOCKED_READS,
    MAX_CONNECTIONS,
    MAX_REQUESTS,
    TimedRequests,
    create_node_pool,
    create_pool,
)

TIMEOUT_S = 3.0


def sentinel_options(url: str) -> list[dict[str, Any]]:
    """Return the options of the connections to each sentinel."""
    pool = create_pool(parse_address(url), TIMEOUT_S)
    assert isinstance(pool, SentinelConnectionPool)
    assert pool.service_name == "main"
    found = pool.sentinel_manager.sentinels
    return [dict(each.connection_pool.connection_kwargs) for each in found]


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_a_sentinel_that_hangs_leaves_time_for_another(scheme: str) -> None:
    """Connecting and its response take half of a request's time each, at most."""
    for each in sentinel_options(f"{scheme}+sentinel://a,b/main"):
        assert each["socket_connect_timeout"] + each["socket_timeout"] <= TIMEOUT_S


def test_sentinels_have_the_certificates_of_the_primary() -> None:
    """The login and the database are the primary's alone."""
    for each in sentinel_options("rediss+sentinel://:secret@a,b/main/2?ssl_ca_certs=/a"):
        assert each["ssl_ca_certs"] == "/a"
        assert each.get("password") is None
        assert each.get("db", 0) == 0


def test_nodes_of_a_cluster_have_one_login() -> None:
    """Also those that the configuration does not name."""
    address = parse_address("rediss+cluster://me:secret@a,b?ssl_ca_certs=/a")
    pool = create_node_pool(address, ("c", 7000))
    options = pool.connection_kwargs
    assert (options["host"], options["port"], options["username"]) == ("c", 7000, "me")
    assert (options["password"], options["ssl_ca_certs"]) == ("secret", "/a")
    assert pool.connection_class is SSLConnection


def test_there_is_a_connection_for_all_that_may_wait() -> None:
    """Readers of events, with and without a group, listeners' polls and responses, a subscriber."""
    assert 2 * MAX_STREAMS + MAX_POLLS + MAX_READS + 1 <= MAX_BLOCKED_READS
    assert MAX_BLOCKED_READS + MAX_REQUESTS < MAX_CONNECTIONS
    for pool in (
        create_pool(parse_address("redis://a"), TIMEOUT_S),
        create_pool(parse_address("redis+sentinel://a,b/main"), TIMEOUT_S),
        create_node_pool(parse_address("redis+cluster://a,b"), ("c", 7000)),
    ):
        assert pool.max_connections == MAX_CONNECTIONS


async def test_requests_beyond_the_connections_wait() -> None:
    """In order, and for as long as a request may take; reads that block do not hold them up."""
    requests, gate, order = TimedRequests(60), asyncio.Event(), list[int]()

    async def request(number: int) -> None:
        await gate.wait()
        order.append(number)

    blocked = [asyncio.create_task(requests(gate.wait(), 60)) for _ in range(MAX_BLOCKED_READS + 1)]
    running = [asyncio.create_task(requests(gate.wait())) for _ in range(MAX_REQUESTS - 1)]
    assert await requests(asyncio.sleep(0, "answered")) == "answered"
    running += [asyncio.create_task(requests(request(number))) for number in range(9)]
    gate.set()
    await asyncio.gather(*blocked, *running)
    assert order == list(range(9))


async def test_a_request_that_gets_no_connection_in_time() -> None:
    """It is not sent."""
    requests = TimedRequests(0)
    with pytest.raises(StoreDown, match="no answer"):
        await requests(asyncio.sleep(0))
