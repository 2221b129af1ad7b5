"""Histories of a cluster's calls, without those of which the store lost a part."""

from engine.store.memory.store import SlotState
from tests.sim.call_histories import CallHistory, call_histories
from tests.sim.cluster.world import ClusterWorld


def read_histories(world: ClusterWorld) -> tuple[tuple[CallHistory, ...], frozenset[str]]:
    """Return the histories of all complete calls, and the ids of the others."""
    incomplete = frozenset(_incomplete(world))
    slots = range(world.env.slots)
    return tuple(
        each for slot in slots for each in call_histories(world.memory, slot, incomplete)
    ), incomplete


def _incomplete(world: ClusterWorld) -> set[str]:
    """Return the calls of which a log line or everything was lost."""
    incomplete: set[str] = set()
    for slot in range(world.env.slots):
        kept = world.memory.kept(slot)
        incomplete |= {call for call, log in kept.logs.items() if b"" in log}
        for lost in world.memory.lost:
            if slot in lost:
                incomplete |= _missing(lost[slot], kept)
    return incomplete


def _missing(lost: SlotState, kept: SlotState) -> set[str]:
    return {call for call, log in lost.logs.items() if kept.logs.get(call, [])[: len(log)] != log}
