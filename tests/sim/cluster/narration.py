"""The stories of a world of several engines; those of which the store has lost a part are apart."""

from engine.store.memory.store import SlotState
from tests.sim.call_log import Story, stories
from tests.sim.cluster.world import World


def tell(world: World) -> tuple[tuple[Story, ...], frozenset[str]]:
    """Tell every call that the store has whole, and name the others."""
    hurt = frozenset(_hurt(world))
    slots = range(world.ground.slots)
    return tuple(each for slot in slots for each in stories(world.memory, slot, hurt)), hurt


def _hurt(world: World) -> set[str]:
    """Name the calls of which something was lost: a line of the log, or all."""
    hurt: set[str] = set()
    for slot in range(world.ground.slots):
        kept = world.memory.kept(slot)
        hurt |= {call for call, log in kept.logs.items() if b"" in log}
        for lost in world.memory.lost:
            if slot in lost:
                hurt |= _missing(lost[slot], kept)
    return hurt


def _missing(lost: SlotState, kept: SlotState) -> set[str]:
    return {call for call, log in lost.logs.items() if kept.logs.get(call, [])[: len(log)] != log}
