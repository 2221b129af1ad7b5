"""Nodes that are added and removed while slots are held, and calls of unknown nodes."""

import asyncio

from engine.app.shard_factory import UnreachablePbx, never_connected
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.refers import no_extensions
from tests.harness.until import until
from tests.unit.runtime.harness.owner_bench import SLOT, OwnerBench
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import ManualClock

GRACE_MS = 3_000


def named(bench: OwnerBench, name: str) -> Node:
    """Make a node."""
    return Node(name, RecordingPbx(), ManualClock(), bench.service.handle_incoming, no_extensions)


async def test_an_added_node_has_shards_in_all_held_slots(bench: OwnerBench) -> None:
    """The slots are listened to, and closed when the node is removed."""
    await bench.owner.take(SLOT, await bench.lease())
    await bench.owner.take(1, await bench.lease(1))
    node = named(bench, "pbx2")
    bench.owner.add_node(node)
    await asyncio.sleep(0)
    assert set(node.shards) == {0, 1}
    assert {"hear pbx2 0", "hear pbx2 1"} <= set(bench.factory.notes)
    bench.owner.remove_node(node)
    await asyncio.sleep(0)
    assert (node.shards, list(bench.service.nodes)) == ({}, ["pbx1"])
    assert {"no hear pbx2 0", "no hear pbx2 1"} <= set(bench.factory.notes)
    assert "no hear pbx1 0" not in bench.factory.notes


async def test_a_placeholder_holds_the_calls_of_an_unknown_node(bench: OwnerBench) -> None:
    """A stored call of an unknown node gets a placeholder; an added node takes the call over."""
    call = await bench.begin()
    bench.owner.drop(SLOT)
    bench.service.nodes.clear()
    await bench.owner.take(SLOT, await bench.lease())
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
