"""Many worlds of several engines, one after another, and one of them told."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from tests.sim.call_log import Story
from tests.sim.cluster.checks import wrongs
from tests.sim.cluster.environment import Cracked
from tests.sim.cluster.narration import tell
from tests.sim.cluster.world import CALLS, Trace, World
from tests.sim.tally import Tally, seeds_in, tallied

SOUND = Cracked()
KEPT = Path(__file__).with_name("seeds.txt")


class Outcome(Struct, frozen=True):
    """One world: its stories, the calls of which only a part is known, and what was wrong."""

    world: World
    told: tuple[Story, ...]
    hurt: frozenset[str]
    wrong: tuple[tuple[str, str], ...]

    @property
    def tally(self) -> Tally:
        """What this adds to what was run."""
        return Tally(
            worlds=1,
            calls=len(self.told) + len(self.hurt),
            partial=len(self.hurt),
            steps=sum(len(story.moments) for story in self.told),
            faults=self.world.faults.counts + self.world.servers.faults,
            failed={self.world.seed: self.wrong} if self.wrong else {},
        )


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
    return tallied(
        seeds, lambda seed, never: run_world(seed, never, cracked).tally, CALLS, most_calls
    )


def kept_seeds() -> list[int]:
    """Read the seeds that failed once."""
    return seeds_in(KEPT)
