"""Nodes that are added and removed while shards are held, and calls of unknown nodes."""

import asyncio

from engine.app.shard_factory import UnreachablePbx, never_connected
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.refers import no_extensions
from tests.harness.runtime.owner_scene import SHARD, SLOT, OwnerScene
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ManualClock
from tests.harness.until import until
from wire.shard import ShardId

GRACE_MS = 3_000


def named(scene: OwnerScene, name: str) -> Node:
    """Make a node."""
    return Node(name, RecordingPbx(), ManualClock(), scene.service.handle_incoming, no_extensions)


async def test_an_added_node_has_its_held_shards(scene: OwnerScene) -> None:
    """They are listened to, and closed when the node is removed."""
    await scene.owner.take(SHARD, await scene.lease())
    for shard in (ShardId("pbx2", 0), ShardId("pbx2", 1)):  # before the node is configured
        await scene.owner.take(shard, await scene.lease(shard))
    scene.owner.add_node(node := named(scene, "pbx2"))
    assert set(node.shards) == {0, 1}
    notes = scene.factory.notes
    await until(lambda: {"hear pbx2 0", "hear pbx2 1"} <= set(notes), what="the listeners")
    scene.owner.remove_node(node)
    assert (node.shards, list(scene.service.nodes)) == ({}, ["pbx1"])
    await until(lambda: {"no hear pbx2 0", "no hear pbx2 1"} <= set(notes), what="their end")
    assert "no hear pbx1 0" not in notes


async def test_a_placeholder_holds_the_calls_of_an_unknown_node(scene: OwnerScene) -> None:
    """A stored call of an unknown node gets a placeholder; an added node takes the call over."""
    call = await scene.begin()
    scene.owner.drop(SHARD)
    scene.service.nodes.clear()
    await scene.owner.take(SHARD, await scene.lease())
    before = scene.service.nodes["pbx1"]
    assert (scene.factory.placeholders, [*before.shards[SLOT].calls]) == (["pbx1"], [call])
    scene.owner.add_node(node := named(scene, "pbx1"))
    assert (before.live_calls, [*node.shards[SLOT].calls]) == (0, [call])
    assert scene.service.nodes == {"pbx1": node}


async def test_calls_of_an_unreachable_node_end_as_lost(scene: OwnerScene) -> None:
    """They end after the grace period, though the node answers nothing."""
    await scene.begin()
    clock = ManualClock()
    node = Node("pbx1", UnreachablePbx(), clock, scene.service.handle_incoming, no_extensions)
    scene.owner.add_node(node)
    live_call = next(iter(node.shards[SLOT].calls.values()))
    task = asyncio.get_running_loop().create_task(never_connected(node, SLOT, GRACE_MS))
    await asyncio.sleep(0)
    clock.pass_ms(GRACE_MS - 1)
    assert not live_call.call.is_ended
    clock.pass_ms(1)
    await until(lambda: node.live_calls == 0, what="its end")
    assert (live_call.call.is_ended, live_call.call.status) == (True, "failed")
    task.cancel()
