"""The connection pools of a store with sentinels, and of a cluster; nothing is connected."""

from typing import Any

import pytest
from redis.asyncio import SSLConnection
from redis.asyncio.sentinel import SentinelConnectionPool

from engine.store.redis.address import parse_address
from engine.store.redis.pool import create_node_pool, create_pool

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
