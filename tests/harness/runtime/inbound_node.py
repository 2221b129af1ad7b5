"""A node with one shard, under a call service that accepts calls."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from msgspec.structs import replace

from engine.ari.request import Reply
from engine.calls.model.events import LegAnswered
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.base.context import EngineContext
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbound_leg_setup import CheckAgent, any_agent
from tests.harness.calls.builders import ID, MAIN, outbound, say, tree
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.shard_scene import ShardScene
from tests.harness.store.documents import put_route
from wire.rpc import NumberRoute

BRIDGE = {
    "id": "b", "technology": "", "bridge_type": "mixing", "bridge_class": "", "creator": "",
    "name": "", "channels": [], "creationtime": "2026-11-21T05:00:00.000+0000",
}  # fmt: skip


class InboundNode:
    """A node of one shard under a call service."""

    def __init__(self, store: MemoryStore) -> None:
        self.scene = ShardScene()
        self.store = store
        now_ms = self.scene.clock.now_ms
        self.directory = Directory(
            self.store, now_ms, AgentTemplate("PJSIP/{agent_id}", "acme"), ("PJSIP/{number}@trunk",)
        )
        settings = AdmissionConfig(
            ShardMap(1, ["pbx1"]), 3_600_000, max_calls=100, max_calls_per_s=100
        )
        self.context = EngineContext(store, self.scene.clock)
        self.service = CallService(self.context, settings, self.directory)
        self.node = self.scene.node(
            self.service.handle_incoming,
            self._party_of,
            self._check_agent,
            check_replacement=self.service.check_replacement,
        )
        self.party_of: Callable[[str], str] = str
        self.check_agent: CheckAgent = any_agent
        self.service.nodes["pbx1"] = self.node

    def _party_of(self, _account: str, number: str) -> str:
        return self.party_of(number)

    def _check_agent(self, account: str, agent_id: str, done: Callable[[str], None]) -> None:
        self.check_agent(account, agent_id, done)

    def shows(self, *channels: object) -> None:
        """Let the PBX show these channels."""
        self.scene.pbx.shows["channels"] = Reply(200, msgspec.json.encode(channels))

    def has_call(self, channel_id: str) -> bool:
        """Return whether a channel has a call."""
        return self.scene.shard.find_by_channel(channel_id) is not None

    async def route(self) -> None:
        """Route the dialled number."""
        body = msgspec.json.encode(NumberRoute("acme", tree(say())))
        await put_route(self.store, "+4733333333", body)


def start_conversation(at: InboundNode) -> LiveCall:
    """Start a call in which agent 1001, who was called first, talks to a customer."""
    shard = at.scene.shard
    call = outbound({"type": "dial", "data": {"number": "+4712345678"}})
    agent = replace(call.legs[0], party="agent:1001")
    live_call = shard.start_call(replace(call, legs=(agent,)))
    for event in (LegAnswered(MAIN), LegAnswered(f"{ID}.l1")):
        shard.feed(live_call, event)
    at.scene.pbx.settle()
    return live_call


@asynccontextmanager
async def inbound_node(store: MemoryStore | None = None) -> AsyncIterator[InboundNode]:
    """Make an inbound node and close it."""
    made = InboundNode(store or MemoryStore())
    try:
        yield made
    finally:
        await made.node.close()
