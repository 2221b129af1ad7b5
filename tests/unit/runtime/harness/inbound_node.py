"""A node, its desk, and a switch that lets calls in."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from engine.ari.request import Reply
from engine.runtime.admission.settings import CallSettings
from engine.runtime.agents.directory import Directory
from engine.runtime.base.context import EngineContext
from engine.runtime.service import CallService
from engine.store.memory.store import MemoryStore
from tests.unit.calls.harness.builders import say, tree
from tests.unit.runtime.harness.shard_bench import ShardBench
from wire.rpc import NumberRoute

BRIDGE = {
    "id": "b", "technology": "", "bridge_type": "mixing", "bridge_class": "", "creator": "",
    "name": "", "channels": [], "creationtime": "2026-11-21T05:00:00.000+0000",
}  # fmt: skip


class InboundNode:
    """A node of one desk under a switch, all by hand."""

    def __init__(self, store: MemoryStore) -> None:
        self.bench = ShardBench()
        self.store = store
        now_ms = self.bench.clock.now_ms
        directory = Directory(self.store, now_ms, "PJSIP/{agent_id}", "PJSIP/{number}@trunk")
        settings = CallSettings(1, 3_600_000, max_calls=100, max_calls_per_s=100)
        self.service = CallService(EngineContext(store, self.bench.clock), settings, directory)
        self.node = self.bench.node(self.service.handle_incoming, self._party_of)
        self.party_of: Callable[[str], str] = str
        self.service.nodes["pbx1"] = self.node

    def _party_of(self, number: str) -> str:
        return self.party_of(number)

    def shows(self, *channels: object) -> None:
        """Let the PBX show channels."""
        self.bench.pbx.shows["channels"] = Reply(200, msgspec.json.encode(channels))

    def has_call(self, channel_id: str) -> bool:
        """Tell whether a channel has its call."""
        return self.bench.shard.find_by_channel(channel_id) is not None

    async def route(self) -> None:
        """Route the number that is dialled."""
        body = msgspec.json.encode(NumberRoute("acme", tree(say())))
        await self.store.put_route("+4733333333", body)


@asynccontextmanager
async def inbound_node(store: MemoryStore | None = None) -> AsyncIterator[InboundNode]:
    """Close the node in the end."""
    made = InboundNode(store or MemoryStore())
    try:
        yield made
    finally:
        await made.node.close()
