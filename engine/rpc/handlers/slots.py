"""RPC operations on the number of slots per PBX node."""

import structlog
from aiohttp import web
from msgspec import Struct

from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from wire import rpc

log = structlog.get_logger()


class SlotHandlers(Struct, frozen=True):
    store: Store
    shards: ShardMap

    async def get(self, _request: web.Request) -> rpc.Slots:
        await self.shards.refresh(self.store, ())
        return rpc.Slots(self.shards.slots, self.shards.layout.highest)

    async def put(self, request: web.Request, body: rpc.PutSlots) -> rpc.Slots:
        """Change the number while calls are live: shards beyond it get no new calls."""
        await self.store.set_slots(body.slots)
        log.info("slots per node changed", slots=body.slots)
        return await self.get(request)
