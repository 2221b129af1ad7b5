"""What is read of a server's INFO."""

from collections.abc import Awaitable
from typing import Any

import pytest

from engine.store.redis.store import read_servers
from wire.cluster import StoreServer

VALKEY = {
    "redis_version": "7.2.4",  # what it is compatible with
    "valkey_version": "8.0.1",
    "role": "master",
    "used_memory": 1_000,
    "maxmemory": 2_000,
    "connected_clients": 3,
}
REDIS = {"redis_version": "7.4.0", "role": "slave", "used_memory": 1, "maxmemory": 0}


class Client:
    """A client of a server with this INFO."""

    def __init__(self, info: dict[str, Any]) -> None:
        self._info = info

    async def info(self) -> dict[str, Any]:
        return self._info


async def _at_once(request: Awaitable[Any], wait_s: float = 0.0) -> Any:
    del wait_s
    return await request


@pytest.mark.parametrize(
    ("info", "server"),
    [
        (VALKEY, StoreServer("valkey", "h:1", "8.0.1", "primary", 1_000, 2_000, 3)),
        (REDIS, StoreServer("redis", "h:1", "7.4.0", "replica", 1, None, 0)),
        ({}, StoreServer("redis", "h:1", "", "", 0, None, 0)),
    ],
)
async def test_a_server(info: dict[str, Any], server: StoreServer) -> None:
    """Its kind, its own version and its part; a server may leave anything out."""
    client: Any = Client(info)
    assert await read_servers(client, "h:1", _at_once) == [server]
