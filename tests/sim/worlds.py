"""Many worlds, one after another: what was run, what went wrong, and how to see it again."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from tests.sim.call_log import Story, stories
from tests.sim.checks import faults_of
from tests.sim.engine_run import Broken
from tests.sim.tally import Tally, seeds_in, tallied
from tests.sim.world import Trace, World

CALLS = 25  # of one world
KEPT = Path(__file__).with_name("seeds.txt")
SOUND = Broken()


class Outcome(Struct, frozen=True):
    """One world: its stories, and what was wrong."""

    world: World
    told: tuple[Story, ...]
    wrong: tuple[tuple[str, str], ...]

    @property
    def tally(self) -> Tally:
        """What this adds to what was run."""
        return Tally(
            worlds=1,
            calls=len(self.told),
            steps=sum(len(story.moments) for story in self.told),
            faults=self.world.faults.counts,
            failed={self.world.seed: self.wrong} if self.wrong else {},
        )


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
    return tallied(
        seeds, lambda seed, never: run_world(seed, never, broken).tally, CALLS, most_calls
    )


def kept_seeds() -> list[int]:
    """Read the seeds that failed once."""
    return seeds_in(KEPT)
