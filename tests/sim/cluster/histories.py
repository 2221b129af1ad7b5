"""The stories of a world of several engines; those of which the store has lost a part are apart."""

from engine.store.memory.store import SlotState
from tests.sim.call_histories import CallHistory, call_histories
from tests.sim.cluster.world import ClusterWorld


def read_histories(world: ClusterWorld) -> tuple[tuple[CallHistory, ...], frozenset[str]]:
    """Tell every call that the store has whole, and name the others."""
    incomplete = frozenset(_incomplete(world))
    slots = range(world.env.slots)
    return tuple(
        each for slot in slots for each in call_histories(world.memory, slot, incomplete)
    ), incomplete


def _incomplete(world: ClusterWorld) -> set[str]:
    """Name the calls of which something was lost: a line of the log, or all."""
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
