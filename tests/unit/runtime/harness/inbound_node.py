"""A node, its desk, and a switch that lets calls in."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from engine.ari.request import Reply
from engine.runtime.admission.limits import RateLimiter
from engine.runtime.admission.settings import CallSettings
from engine.runtime.agents.directory import Directory
from engine.runtime.service import CallService
from engine.store.memory.store import MemoryStore
from tests.unit.calls.harness.builders import say, tree
from tests.unit.runtime.harness.shard_bench import World
from wire.rpc import NumberRoute

BRIDGE = {
    "id": "b", "technology": "", "bridge_type": "mixing", "bridge_class": "", "creator": "",
    "name": "", "channels": [], "creationtime": "2026-11-21T05:00:00.000+0000",
}  # fmt: skip


class Around:
    """A node of one desk under a switch, all by hand."""

    def __init__(self, store: MemoryStore) -> None:
        self.world = World()
        self.store = store
        gate = RateLimiter(self.world.clock, 100, 100)
        now_ms = self.world.clock.now_ms
        directory = Directory(self.store, now_ms, "PJSIP/{agent_id}", "PJSIP/{number}@trunk")
        rules = CallSettings(1, 3_600_000)
        self.switch = CallService(self.store, self.world.clock, gate, rules, directory=directory)
        self.node = self.world.node(self.switch.handle_incoming, self._party_of)
        self.party_of: Callable[[str], str] = str
        self.switch.nodes["pbx1"] = self.node

    def _party_of(self, number: str) -> str:
        return self.party_of(number)

    def shows(self, *channels: object) -> None:
        """Let the PBX show channels."""
        self.world.pbx.shows["channels"] = Reply(200, msgspec.json.encode(channels))

    def takes_part(self, channel_id: str) -> bool:
        """Tell whether a channel has its call."""
        return self.world.desk.find_by_channel(channel_id) is not None

    async def route(self) -> None:
        """Route the number that is dialled."""
        body = msgspec.json.encode(NumberRoute("acme", tree(say())))
        await self.store.put_route("+4733333333", body)


@asynccontextmanager
async def around(store: MemoryStore | None = None) -> AsyncIterator[Around]:
    """Close the node in the end."""
    made = Around(store or MemoryStore())
    try:
        yield made
    finally:
        await made.node.close()
