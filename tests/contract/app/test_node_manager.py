"""Nodes that are found by the DNS and lost again, with all that belongs to them."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from engine.app import factories
from engine.app.node_manager import NodeDependencies, NodeManager
from engine.app.shard_factory import NodeShardFactory
from engine.config import NodeSettings
from engine.media.clip import MediaLimits
from engine.media.open import open_clip_cache
from engine.observe.telemetry import Telemetry
from engine.runtime.admission.placement import Placement
from engine.runtime.base.clock import LoopClock
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.reachability import Reachability
from engine.runtime.ownership.slot_owner import SlotOwner
from engine.store.memory.store import MemoryStore
from tests.harness.ports import free_port
from tests.harness.settings import read_settings
from tests.harness.until import until
from tests.unit.calls.harness.builders import outbound
from wire.tree import Limits

SLOT = 0
NAMED = {"name": "pbx1", "url": "http://127.0.0.1:1", "password": "x", "media_url": "http://x"}
SETTINGS = read_settings(
    {"rpc_token": "x", "node_dns": "x:1", "node_password": "x", "node_media_url": "http://x"}
    | {"nodes": [NAMED]}
)


class House:
    """A fleet of nodes that nobody answers at, and one slot."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.fleet: NodeManager
        self.reach: Reachability
        self.placement: Placement

    async def open(self, house: AsyncExitStack, folder: Path) -> None:
        """Open it, with the node that is named."""
        clock, store, seen = LoopClock(asyncio.get_running_loop()), MemoryStore(), Telemetry()
        session = await house.enter_async_context(aiohttp.ClientSession())
        library = await house.enter_async_context(
            open_clip_cache(folder, session, [], clock.now_ms, MediaLimits())
        )
        errands = await factories.io_runner(SETTINGS, house, library, store, Limits(), seen)
        roster = factories.roster(SETTINGS, house, store, clock, Membership("me"), seen)
        terms = factories.dial_policy(SETTINGS, house, store, clock)
        tasks = Tasks(self.faults.append)
        desks = NodeShardFactory(SETTINGS, clock, errands, roster, seen, terms)
        slots = SlotOwner(store, roster.switch, desks, tasks, random.random)
        self.reach = Reachability(time.monotonic)
        self.fleet = NodeManager(
            NodeDependencies(
                SETTINGS, "me", clock, roster, desks, slots, tasks, None, seen, self.reach
            )
        )
        house.push_async_callback(self.fleet.close)
        house.push_async_callback(tasks.close)
        self.placement = roster.switch.placement
        await self.fleet.open_named()
        token = await store.claim(SLOT, "me", 10_000) or 0
        await slots.take(SLOT, Lease(token, float("inf"), lambda: 0.0))
        tasks.start("fleet", self.fleet.run(every_s=0.01))

    @property
    def names(self) -> set[str]:
        """Name the nodes that are open."""
        return set(self.placement.nodes)

    async def finds(self, *names: str) -> None:
        """Let the DNS tell nodes."""
        await self.fleet.sync_discovered({name: at(name) for name in names})


def at(name: str) -> NodeSettings:
    """Give a node that nobody answers at."""
    return SETTINGS.node_at(name, f"http://127.0.0.1:{free_port()}")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Give a house, in which nothing fails."""
    made = House()
    async with AsyncExitStack() as stack:
        await made.open(stack, tmp_path)
        yield made
    assert made.faults == []


async def test_nodes_come_and_go(house: House) -> None:
    """One that is found has desks; one that is lost goes when it is empty, a named one stays."""
    assert house.names == {"pbx1"}
    await house.finds("ip1", "ip2")
    assert house.names == {"pbx1", "ip1", "ip2"}
    assert set(house.placement.nodes["ip1"].shards) == {SLOT}
    assert set(house.reach.unproven) == house.names
    await house.finds("ip2")
    await until(lambda: house.names == {"pbx1", "ip2"}, what="ip1 to be closed")
    await until(lambda: set(house.reach.unproven) == house.names, what="ip1 to be forgotten")
    await house.finds("ip1", "ip2")
    assert house.names == {"pbx1", "ip1", "ip2"}


async def test_a_node_that_is_lost_keeps_its_calls(house: House) -> None:
    """It gets no new one; found again before its last call has ended, it gets them again."""
    await house.finds("ip1")
    node = house.placement.nodes["ip1"]
    call = node.shards[SLOT].start_call(outbound()).call
    await house.finds()
    obstacle = house.placement.admit(node.shards[SLOT], by_trunk=False)
    assert obstacle is not None
    assert obstacle.code == "node_leaving"
    await house.finds("ip1")
    assert house.placement.admit(node.shards[SLOT], by_trunk=False) is None
    await house.finds()
    assert house.names == {"pbx1", "ip1"}
    del node.shards[SLOT].actors[call.id]
    await until(lambda: house.names == {"pbx1"}, what="ip1 to be closed")
