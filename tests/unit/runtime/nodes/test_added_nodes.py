"""Nodes that come and go while slots are held, and calls of those that are not there."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from engine.runtime.nodes.node import Node
from engine.runtime.nodes.unreachable import UnreachablePbx, never_connected
from tests.harness.until import until
from tests.unit.runtime.harness.owner_bench import SLOT, House
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import HandClock

GRACE_MS = 3_000


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """Give a house, which loses no task."""
    made = House()
    yield made
    await made.tasks.close()
    assert made.faults == []


def named(house: House, name: str) -> Node:
    """Make a node."""
    return Node(name, RecordingPbx(), {}, HandClock(), house.switch.handle_incoming)


async def test_a_node_that_joins_has_desks_in_all_slots_held(house: House) -> None:
    """They are heard, and closed again when it parts."""
    await house.slots.take(SLOT, await house.lease())
    await house.slots.take(1, await house.lease(1))
    node = named(house, "pbx2")
    house.slots.add_node(node)
    await asyncio.sleep(0)
    assert set(node.shards) == {0, 1}
    assert {"hear pbx2 0", "hear pbx2 1"} <= set(house.builder.notes)
    house.slots.remove_node(node)
    await asyncio.sleep(0)
    assert (node.shards, list(house.switch.nodes)) == ({}, ["pbx1"])
    assert {"no hear pbx2 0", "no hear pbx2 1"} <= set(house.builder.notes)
    assert "no hear pbx1 0" not in house.builder.notes


async def test_a_stranger_stands_in_for_its_calls(house: House) -> None:
    """A stored call of no known node gets one; when the real one joins, it goes on there."""
    call = await house.begin()
    house.slots.drop(SLOT)
    house.switch.nodes.clear()
    strangers: list[str] = []

    def stand_in(name: str) -> None:
        strangers.append(name)
        house.slots.add_node(
            Node(name, UnreachablePbx(), {}, HandClock(), house.switch.handle_incoming)
        )

    house.slots.on_unknown_node = stand_in
    await house.slots.take(SLOT, await house.lease())
    before = house.switch.nodes["pbx1"]
    assert (strangers, [*before.shards[SLOT].actors]) == (["pbx1"], [call])
    house.slots.add_node(node := named(house, "pbx1"))
    assert (before.live_calls, [*node.shards[SLOT].actors]) == (0, [call])
    assert house.switch.nodes == {"pbx1": node}


async def test_calls_of_an_absent_node_end_as_lost(house: House) -> None:
    """After the grace, though nothing can be asked of their node."""
    await house.begin()
    clock = HandClock()
    node = Node("pbx1", UnreachablePbx(), {}, clock, house.switch.handle_incoming)
    house.slots.add_node(node)
    actor = next(iter(node.shards[SLOT].actors.values()))
    task = asyncio.get_running_loop().create_task(never_connected(node, SLOT, GRACE_MS))
    await asyncio.sleep(0)
    clock.pass_ms(GRACE_MS - 1)
    assert not actor.call.is_ended
    clock.pass_ms(1)
    await until(lambda: node.live_calls == 0, what="its end")
    assert (actor.call.is_ended, actor.call.status) == (True, "failed")
    task.cancel()
