"""Nodes that are added and removed while shards are held, and calls of unknown nodes."""

import asyncio

from engine.app.shard_factory import UnreachablePbx, never_connected
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.refers import no_extensions
from tests.harness.until import until
from tests.unit.runtime.harness.owner_bench import SHARD, SLOT, OwnerBench
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.shard import ShardId

GRACE_MS = 3_000


def named(bench: OwnerBench, name: str) -> Node:
    """Make a node."""
    return Node(name, RecordingPbx(), ManualClock(), bench.service.handle_incoming, no_extensions)


async def test_an_added_node_has_its_held_shards(bench: OwnerBench) -> None:
    """They are listened to, and closed when the node is removed."""
    await bench.owner.take(SHARD, await bench.lease())
    for shard in (ShardId("pbx2", 0), ShardId("pbx2", 1)):  # before the node is configured
        await bench.owner.take(shard, await bench.lease(shard))
    bench.owner.add_node(node := named(bench, "pbx2"))
    assert set(node.shards) == {0, 1}
    notes = bench.factory.notes
    await until(lambda: {"hear pbx2 0", "hear pbx2 1"} <= set(notes), what="the listeners")
    bench.owner.remove_node(node)
    assert (node.shards, list(bench.service.nodes)) == ({}, ["pbx1"])
    await until(lambda: {"no hear pbx2 0", "no hear pbx2 1"} <= set(notes), what="their end")
    assert "no hear pbx1 0" not in notes


async def test_a_placeholder_holds_the_calls_of_an_unknown_node(bench: OwnerBench) -> None:
    """A stored call of an unknown node gets a placeholder; an added node takes the call over."""
    call = await bench.begin()
    bench.owner.drop(SHARD)
    bench.service.nodes.clear()
    await bench.owner.take(SHARD, await bench.lease())
    before = bench.service.nodes["pbx1"]
    assert (bench.factory.placeholders, [*before.shards[SLOT].calls]) == (["pbx1"], [call])
    bench.owner.add_node(node := named(bench, "pbx1"))
    assert (before.live_calls, [*node.shards[SLOT].calls]) == (0, [call])
    assert bench.service.nodes == {"pbx1": node}


async def test_calls_of_an_unreachable_node_end_as_lost(bench: OwnerBench) -> None:
    """They end after the grace period, though the node answers nothing."""
    await bench.begin()
    clock = ManualClock()
    node = Node("pbx1", UnreachablePbx(), clock, bench.service.handle_incoming, no_extensions)
    bench.owner.add_node(node)
    live_call = next(iter(node.shards[SLOT].calls.values()))
    task = asyncio.get_running_loop().create_task(never_connected(node, SLOT, GRACE_MS))
    await asyncio.sleep(0)
    clock.pass_ms(GRACE_MS - 1)
    assert not live_call.call.is_ended
    clock.pass_ms(1)
    await until(lambda: node.live_calls == 0, what="its end")
    assert (live_call.call.is_ended, live_call.call.status) == (True, "failed")
    task.cancel()
