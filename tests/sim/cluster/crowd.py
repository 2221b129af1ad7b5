"""Many worlds of several engines, one after another, and one of them told."""

import time
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from msgspec import Struct

from tests.sim.cluster.checks import wrongs
from tests.sim.cluster.ground import Cracked
from tests.sim.cluster.tales import tell
from tests.sim.cluster.world import CALLS, Trace, World
from tests.sim.crowd import Tally, seeds_in
from tests.sim.quiet import quiet
from tests.sim.story import Story

SOUND = Cracked()
KEPT = Path(__file__).with_name("seeds.txt")


class Outcome(Struct, frozen=True):
    """One world: its stories, the calls of which only a part is known, and what was wrong."""

    world: World
    told: tuple[Story, ...]
    hurt: frozenset[str]
    wrong: tuple[tuple[str, str], ...]


def run_world(
    seed: int, never: list[str], cracked: Cracked = SOUND, trace: Trace | None = None
) -> Outcome:
    """Run and check one seed; `never` is what `quiet` gave."""
    never.clear()
    world = World(seed, cracked, trace)
    world.run()
    told, hurt = tell(world)
    wrong = [*wrongs(world, told, hurt), *(("", said) for said in never)]
    return Outcome(world, told, hurt, tuple(wrong))


def run_worlds(seeds: Iterable[int], cracked: Cracked = SOUND, most_calls: int = 1 << 60) -> Tally:
    """Run seeds until so many calls have been, or twice the worlds that these should take."""
    tally = Tally(faults=Counter(), failed={})
    began_s = time.perf_counter()
    with quiet() as never:
        for seed in islice(seeds, 2 * most_calls // CALLS + 1):
            outcome = run_world(seed, never, cracked)
            tally.worlds += 1
            tally.calls += len(outcome.told) + len(outcome.hurt)
            tally.partial += len(outcome.hurt)
            tally.steps += sum(len(story.moments) for story in outcome.told)
            tally.faults += outcome.world.faults.counts + outcome.world.servers.faults
            if outcome.wrong:
                tally.failed[seed] = outcome.wrong
            if tally.calls >= most_calls:
                break
    tally.seconds = time.perf_counter() - began_s
    return tally


def kept_seeds() -> list[int]:
    """Read the seeds that failed once."""
    return seeds_in(KEPT)
