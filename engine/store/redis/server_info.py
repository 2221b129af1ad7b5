"""What the servers of the store say of themselves: INFO of one server, or of each primary."""

from collections.abc import Mapping
from typing import Any

from redis.asyncio import Redis

from engine.store.redis.cluster.client import ClusterClient
from engine.store.redis.versioned_documents import WithTimeout
from wire.cluster import StoreServer


async def read_servers(client: Redis, address: str, with_timeout: WithTimeout) -> list[StoreServer]:
    """Read the INFO of the servers; raises StoreDown. `address` is that of a single server."""
    if isinstance(client, ClusterClient):
        nodes = await client.primaries()
        found = [await with_timeout(node.client.info()) for node in nodes]
        places = [":".join(map(str, node.location)) for node in nodes]
    else:
        found, places = [await with_timeout(client.info())], [address]
    return [_server(place, info) for place, info in zip(places, found, strict=True)]


def _server(address: str, info: Mapping[str, Any]) -> StoreServer:
    """Return what operators need of a server's INFO."""
    is_valkey = "valkey_version" in info
    version = info.get("valkey_version" if is_valkey else "redis_version", "")
    return StoreServer(
        "valkey" if is_valkey else "redis",
        address,
        str(version),
        {"slave": "replica", "master": "primary"}.get(str(info.get("role")), ""),
        int(info.get("used_memory", 0)),
        int(info.get("maxmemory", 0)) or None,
        int(info.get("connected_clients", 0)),
    )
