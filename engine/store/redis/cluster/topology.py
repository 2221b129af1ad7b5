"""Which primary of a cluster has a key: read from any node, corrected by redirections."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import RedisError

from base.tasks import cancel_all
from engine.store.errors import StoreDown
from engine.store.redis.address import StoreAddress
from engine.store.redis.pool import create_node_pool
from engine.store.redis.script_connection import ScriptConnection

HASH_SLOTS = 16_384
RELOAD_INTERVAL_S = 0.1  # an election takes longer
Location = tuple[str, int]


class ClusterNode(Struct, frozen=True, eq=False):
    """A node's connections."""

    location: Location
    client: Redis
    scripts: ScriptConnection


class Topology:
    """The primaries of a cluster by hash slot."""

    def __init__(self, address: StoreAddress, timeout_s: float) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self._nodes: dict[Location, ClusterNode] = {}  # also replicas that were asked for the map
        self._by_hash_slot: list[ClusterNode | None] = [None] * HASH_SLOTS
        self._first: frozenset[Location] = frozenset()  # the primaries of the first map
        self._is_stale = True
        self._loaded_s = 0.0
        self._loading: asyncio.Task[None] | None = None

    @property
    def primaries(self) -> list[ClusterNode]:
        """The primaries of the map, in the order of their hash slots."""
        return [*dict.fromkeys(node for node in self._by_hash_slot if node is not None)]

    @property
    def connections(self) -> int:
        """Number of times that a primary's connection was new, the first map's counting once."""
        opened = {place: node.scripts.connections for place, node in self._nodes.items()}
        again = (max(0, count - (place in self._first)) for place, count in opened.items())
        return sum(again) + any(opened.values())

    def is_known(self, node: ClusterNode) -> bool:
        """Return whether a primary was connected before, or was one when the first map was read."""
        return node.location in self._first or node.scripts.connections > 0

    async def of_key(self, key: str | bytes) -> ClusterNode:
        """Return the primary that has a key; raises StoreDown."""
        slot = key_slot(key.encode() if isinstance(key, str) else key)
        node = self._by_hash_slot[slot]
        if self._is_stale or node is None:
            await self.load()
            node = self._by_hash_slot[slot]
        if node is None:
            raise StoreDown(f"no primary of the cluster has hash slot {slot}")
        return node

    def suspect(self) -> None:
        """Read the map again before it is used next: a primary may have been replaced."""
        self._is_stale = True

    def move(self, redirection: str) -> None:
        """Follow `MOVED 1234 host:port`, or only its numbers, and read the map again."""
        hash_slot, _, place = redirection.removeprefix("MOVED ").partition(" ")
        host, _, port = place.rpartition(":")
        self._by_hash_slot[int(hash_slot)] = self._node((host, int(port)))
        self.suspect()

    def node_at(self, redirection: str) -> ClusterNode:
        """Return the node of `ASK 1234 host:port`."""
        host, _, port = redirection.rpartition(" ")[2].rpartition(":")
        return self._node((host, int(port)))

    async def load(self) -> None:
        """Read the map from the first node that answers; raises StoreDown."""
        now_s = asyncio.get_running_loop().time()
        if self.primaries and now_s - self._loaded_s < RELOAD_INTERVAL_S:
            return
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        await asyncio.shield(self._loading)

    async def close(self) -> None:
        if self._loading is not None:
            await cancel_all([self._loading])
        for node in self._nodes.values():
            await node.scripts.close()
            await node.client.aclose(close_connection_pool=True)

    async def _load(self) -> None:
        for location in self._address.cluster:
            self._node(location)
        asking = [asyncio.create_task(_read_map(node)) for node in self._nodes.values()]
        try:
            async with asyncio.timeout(self._timeout_s):
                for answer in asyncio.as_completed(asking):
                    if found := await answer:
                        self._apply(found)
                        return
        except TimeoutError:
            pass
        finally:
            self._loading = None
            await cancel_all(asking)
        raise StoreDown("no node of the cluster answers")

    def _apply(self, ranges: Iterable[tuple[int, int, Location]]) -> None:
        mapped: list[ClusterNode | None] = [None] * HASH_SLOTS
        for first, last, location in ranges:
            mapped[first : last + 1] = [self._node(location)] * (last + 1 - first)
        self._by_hash_slot = mapped
        self._first = self._first or frozenset(node.location for node in self.primaries)
        self._is_stale = False
        self._loaded_s = asyncio.get_running_loop().time()

    def _node(self, location: Location) -> ClusterNode:
        if location not in self._nodes:
            pool = create_node_pool(self._address, location)
            scripts = ScriptConnection(pool, self._timeout_s)
            self._nodes[location] = ClusterNode(location, Redis(connection_pool=pool), scripts)
        return self._nodes[location]


async def _read_map(node: ClusterNode) -> list[tuple[int, int, Location]]:
    """Read the ranges of hash slots and their primaries; none if the node has no valid map."""
    try:
        found: Sequence[Any] = await node.client.execute_command("CLUSTER", "SLOTS")  # type: ignore[no-untyped-call]  # untyped in redis-py
    except (RedisError, OSError):
        return []
    host = node.location[0]  # a node that does not know its own address leaves it out
    return [
        (first, last, ((primary[0] or host.encode()).decode(), primary[1]))
        for first, last, primary, *_replicas in found
    ]
