"""RPC operation that shows the state of the store, as this engine reaches it."""

from contextlib import suppress
from time import perf_counter

from aiohttp import web
from msgspec import Struct

from engine.runtime.cluster.shard_map import ShardMap
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.cluster import StoreServer, StoreView


class StoreHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap

    async def get(self, _request: web.Request) -> StoreView:
        """Measure a ping, and read what the servers say of themselves."""
        began_s, servers = perf_counter(), list[StoreServer]()
        try:
            await self.store.ping()
            latency_ms = round((perf_counter() - began_s) * 1000, 3)
            with suppress(StoreDown):  # a managed server may not allow INFO
                servers = await self.store.servers()
            workloads = await self.store.workloads(self.shards.all)
        except StoreDown as error:
            return StoreView(False, error.detail)
        pending = sum(each.callbacks for each in workloads)
        return StoreView(True, "", latency_ms, tuple(servers), pending)
