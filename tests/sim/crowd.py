"""Many worlds, one after another: what was run, what went wrong, and how to see it again."""

import time
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from msgspec import Struct

from tests.sim.checks import faults_of
from tests.sim.life import Broken
from tests.sim.quiet import quiet
from tests.sim.story import Story, stories
from tests.sim.world import Trace, World

CALLS = 25  # of one world
KEPT = Path(__file__).with_name("seeds.txt")
SOUND = Broken()


class Outcome(Struct, frozen=True):
    """One world: its stories, and what was wrong."""

    world: World
    told: tuple[Story, ...]
    wrong: tuple[tuple[str, str], ...]


class Tally(Struct):
    """What was run so far."""

    worlds: int = 0
    calls: int = 0
    partial: int = 0  # of them: those of which the store has lost a part
    steps: int = 0
    seconds: float = 0.0
    faults: Counter[str] = Counter()
    failed: dict[int, tuple[tuple[str, str], ...]] = {}

    def add(self, part: "Tally") -> None:
        """Count what another has counted."""
        self.worlds += part.worlds
        self.calls += part.calls
        self.partial += part.partial
        self.steps += part.steps
        self.seconds += part.seconds
        self.faults += part.faults
        self.failed |= part.failed


def run_world(
    seed: int, never: list[str], broken: Broken = SOUND, trace: Trace | None = None
) -> Outcome:
    """Run and check one seed; `never` is what `quiet` gave."""
    never.clear()
    world = World(seed, CALLS, broken, trace)
    world.run()
    told = tuple(stories(world.memory, 0))
    wrong = [*faults_of(world, told), *(("", said) for said in never)]
    return Outcome(world, told, tuple(wrong))


def run_worlds(seeds: Iterable[int], broken: Broken = SOUND, most_calls: int = 1 << 60) -> Tally:
    """Run seeds until so many calls have been, or twice the worlds that these should take."""
    tally = Tally(faults=Counter(), failed={})
    began_s = time.perf_counter()
    with quiet() as never:
        for seed in islice(seeds, 2 * most_calls // CALLS + 1):
            outcome = run_world(seed, never, broken)
            tally.worlds += 1
            tally.calls += len(outcome.told)
            tally.steps += sum(len(story.moments) for story in outcome.told)
            tally.faults += outcome.world.faults.counts
            if outcome.wrong:
                tally.failed[seed] = outcome.wrong
            if tally.calls >= most_calls:
                break
    tally.seconds = time.perf_counter() - began_s
    return tally


def kept_seeds() -> list[int]:
    """Read the seeds that failed once."""
    return seeds_in(KEPT)


def seeds_in(kept: Path) -> list[int]:
    """Read the seeds of a file, in which each has a line and a word about it."""
    lines = (line.partition("#")[0].strip() for line in kept.read_text().splitlines())
    return [int(line) for line in lines if line]
