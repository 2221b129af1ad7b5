"""The live calls and the shards of this engine, by id."""

import msgspec

from engine.calls.model.call import Call
from engine.calls.model.storage_format import decode_stored_call
from engine.runtime.admission.node_selection import NoCapacity, NodeSelection
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.shard.control_requests import NotOwner
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.shard import CallShard
from engine.store.store import Store
from wire.call_id_format import shard_of
from wire.shard import ShardId


class LocalCalls:
    """Finds calls and shards; those of other engines are rejected with their shard."""

    def __init__(self, store: Store, shards: ShardMap, node_selection: NodeSelection) -> None:
        self.node_selection = node_selection
        self.releasing = node_selection.releasing
        self._store = store
        self._shards = shards

    @property
    def nodes(self) -> dict[str, Node]:
        return self.node_selection.nodes

    def owns(self, shard: ShardId) -> bool:
        """Return whether a shard is this engine's, and is not being handed over."""
        return shard not in self.releasing and self._find(shard) is not None

    def check_owned(self, call: str) -> None:
        """Raise NotOwner when another engine has a call's shard."""
        shard = shard_of(call)
        if shard is not None and self._shards.has(shard) and not self.owns(shard):
            raise NotOwner(shard)

    def find(self, call: str) -> tuple[CallShard, LiveCall] | None:
        found = shard_of(call)
        shard = self._find(found) if found else None
        live_call = shard.calls.get(call) if shard else None
        return (shard, live_call) if shard and live_call else None

    def shard(self, call: str) -> CallShard:
        """Return the shard of a call, which must be this engine's."""
        shard = shard_of(call)
        found = self._find(shard) if shard else None
        if found is None:
            raise NotOwner(shard)
        return found

    def _find(self, shard: ShardId) -> CallShard | None:
        node = self.nodes.get(shard.node)
        return node.shards.get(shard.slot) if node else None

    async def read(self, call: str) -> Call | None:
        """Read a call, live or ended; raises StoreDown, and NoCapacity if it cannot be decoded."""
        if found := self.find(call):
            return found[1].call
        shard = shard_of(call)
        body = await self._store.read(shard, call) if shard else None
        try:
            return decode_stored_call(body).call if body else None
        except msgspec.DecodeError:
            text = f"call {call} was stored by a later version of the engine"
            raise NoCapacity("no_owner", text) from None
