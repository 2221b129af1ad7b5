"""Nodes that DNS discovery adds and removes, with all that belongs to them."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from engine.app import factories
from engine.app.node_manager import NodeDependencies, NodeManager
from engine.app.shard_factory import NodeShardFactory, ShardDependencies
from engine.app.stream_gateways import StreamDependencies
from engine.media.clip import MediaLimits
from engine.media.open import open_clip_cache
from engine.observe.telemetry import Telemetry
from engine.runtime.admission.node_selection import NodeSelection
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.base.clock import LoopClock
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.node_duties import NodeDuties
from engine.runtime.cluster.pbx_reachability import PbxReachability
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.settings.nodes import NodeSettings
from engine.webhooks.http_client import no_listener
from tests.harness.calls.builders import outbound
from tests.harness.memory_store.store import MemoryStore
from tests.harness.ports import free_port
from tests.harness.settings import SECRET, read_settings
from tests.harness.signing import fixed_signer
from tests.harness.sim.streams.node import any_recognizer
from tests.harness.until import until
from wire.shard import ShardId
from wire.tree import Limits

SLOT = 0
NAMED = {"name": "pbx1", "url": "http://127.0.0.1:1", "password": SECRET, "media_url": "http://x"}
SETTINGS = read_settings(
    {"node_dns": "x:1", "node_password": SECRET, "node_media_url": "http://x"} | {"nodes": [NAMED]}
)


class Scene:
    """Nodes at addresses where nothing answers, and shards of two."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.nodes: NodeManager
        self.reachability: PbxReachability
        self.node_selection: NodeSelection
        self.lifecycle: ShardLifecycle
        self.store: MemoryStore

    async def open(self, stack: AsyncExitStack, folder: Path) -> None:
        """Open the configured node."""
        clock, store = LoopClock(asyncio.get_running_loop()), MemoryStore()
        telemetry = Telemetry()
        session = await stack.enter_async_context(aiohttp.ClientSession())
        clips = await stack.enter_async_context(
            open_clip_cache(folder, lambda _account: session, [], clock.now_ms, MediaLimits())
        )
        context = EngineContext(store, clock, telemetry.metrics)
        sealer = DigitSealer((SECRET,), os.urandom)
        parts = factories.assembly(SETTINGS, stack, context, telemetry, sealer)
        io = await factories.io_runner(parts, clips, Limits(), fixed_signer(), no_listener)
        directory = factories.directory(parts)
        members, shards = Membership("me"), ShardMap(1, ["pbx1", "ip1"])
        service = factories.call_service(parts, directory, members, shards)
        agents = AgentPresence(directory, service.calls)
        policy = factories.dial_policy(
            parts, lambda _account: False, service.node_selection, members, shards
        )
        tasks = Tasks(self.faults.append)
        factory = NodeShardFactory(
            ShardDependencies(SETTINGS, clock, service, shards, agents, io, policy, telemetry)
        )
        lifecycle = ShardLifecycle(parts.context, service, factory, tasks)
        self.reachability = PbxReachability(time.monotonic)
        self.node_selection = service.node_selection
        self.nodes = NodeManager(
            NodeDependencies(
                SETTINGS,
                "me",
                parts.context,
                self.node_selection,
                agents,
                service.phone_reports,
                factory,
                lifecycle,
                tasks,
                None,
                self.reachability,
                NodeDuties(members, time.monotonic),
                StreamDependencies(SETTINGS, Limits(), fixed_signer(), any_recognizer),
            )
        )
        stack.push_async_callback(self.nodes.close)
        stack.push_async_callback(tasks.close)
        await self.nodes.open_named()
        self.lifecycle, self.store = lifecycle, store
        await self.take("pbx1")
        tasks.start("nodes", self.nodes.run(every_s=0.01))

    @property
    def names(self) -> set[str]:
        """The names of the open nodes."""
        return set(self.node_selection.nodes)

    async def take(self, name: str) -> None:
        """Take the shard of a node."""
        shard = ShardId(name, SLOT)
        token = await self.store.claim(shard, "me", 10_000) or 0
        await self.lifecycle.take(shard, Lease(token, float("inf"), lambda: 0.0))

    async def discover(self, *names: str) -> None:
        """Let the DNS return nodes."""
        await self.nodes.sync_discovered({name: at(name) for name in names})


def at(name: str) -> NodeSettings:
    """Return the settings of a node at a port where nothing answers."""
    return SETTINGS.node_at(name, f"http://127.0.0.1:{free_port()}")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """Run a scene whose tasks do not fail."""
    made = Scene()
    async with AsyncExitStack() as stack:
        await made.open(stack, tmp_path)
        yield made
    assert made.faults == []


async def test_nodes_come_and_go(scene: Scene) -> None:
    """A discovered node can have shards; a removed one closes without calls."""
    assert scene.names == {"pbx1"}
    await scene.discover("ip1", "ip2")
    assert scene.names == {"pbx1", "ip1", "ip2"}
    await scene.take("ip1")
    assert set(scene.node_selection.nodes["ip1"].shards) == {SLOT}
    assert set(scene.reachability.unproven) == scene.names
    await scene.discover("ip2")
    await until(lambda: scene.names == {"pbx1", "ip2"}, what="ip1 to be closed")
    await until(lambda: set(scene.reachability.unproven) == scene.names, what="ip1 to be removed")
    await scene.discover("ip1", "ip2")
    assert scene.names == {"pbx1", "ip1", "ip2"}


async def test_a_removed_node_keeps_its_calls(scene: Scene) -> None:
    """A removed node gets no new calls, unless it is discovered again before its last call ends."""
    await scene.discover("ip1")
    await scene.take("ip1")
    node = scene.node_selection.nodes["ip1"]
    call = node.shards[SLOT].start_call(outbound()).call
    await scene.discover()
    reason = scene.node_selection.admit(node.shards[SLOT], by_trunk=False)
    assert reason is not None
    assert reason.code == "node_leaving"
    await scene.discover("ip1")
    assert scene.node_selection.admit(node.shards[SLOT], by_trunk=False) is None
    await scene.discover()
    assert scene.names == {"pbx1", "ip1"}
    del node.shards[SLOT].calls[call.id]
    await until(lambda: scene.names == {"pbx1"}, what="ip1 to be closed")
