"""Runs many worlds, and checks them."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from tests.sim.call_histories import CallHistory, call_histories
from tests.sim.checks import find_violations
from tests.sim.engine_run import PartOverrides
from tests.sim.tally import Tally, read_seeds, run_tally
from tests.sim.world import Trace, World

CALLS = 25  # of one world
SEEDS_FILE = Path(__file__).with_name("seeds.txt")
NO_OVERRIDES = PartOverrides()


class Outcome(Struct, frozen=True):
    """One world: its calls, and the violations."""

    world: World
    histories: tuple[CallHistory, ...]
    violations: tuple[tuple[str, str], ...]

    @property
    def tally(self) -> Tally:
        return Tally(
            worlds=1,
            calls=len(self.histories),
            steps=sum(len(history.steps) for history in self.histories),
            faults=self.world.faults.counts,
            failed={self.world.seed: self.violations} if self.violations else {},
        )


def run_world(
    seed: int,
    forbidden: list[str],
    overrides: PartOverrides = NO_OVERRIDES,
    trace: Trace | None = None,
) -> Outcome:
    """Run and check one seed; `forbidden` is the list that `silenced_log` yields."""
    forbidden.clear()
    world = World(seed, CALLS, overrides, trace)
    world.run()
    histories = tuple(call_histories(world.memory, 0))
    violations = [*find_violations(world, histories), *(("", said) for said in forbidden)]
    return Outcome(world, histories, tuple(violations))


def run_worlds(
    seeds: Iterable[int], overrides: PartOverrides = NO_OVERRIDES, max_calls: int = 1 << 60
) -> Tally:
    """Run seeds until `max_calls` calls are done, or twice the worlds that these should take."""
    return run_tally(
        seeds, lambda seed, forbidden: run_world(seed, forbidden, overrides).tally, CALLS, max_calls
    )


def regression_seeds() -> list[int]:
    """Return the seeds that failed once."""
    return read_seeds(SEEDS_FILE)
