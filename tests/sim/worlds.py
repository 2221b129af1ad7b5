"""Runs many worlds, and checks them."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from engine.calls.step import step
from tests.sim.call_histories import CallHistory, call_histories
from tests.sim.checks import find_violations
from tests.sim.engine_run import SHARD, PartOverrides
from tests.sim.live_steps import LiveSteps
from tests.sim.runs.tally import Tally, read_seeds, run_tally
from tests.sim.world import Trace, World

CALLS = 25  # of one world
AUDIT_EVERY = 8  # worlds: in one of them the logs are replayed
PROGRAM = "tests.sim"  # its name for `python -m`
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
    *,
    is_audited: bool = True,
) -> Outcome:
    """Run and check one seed; `forbidden` is the list that `silenced_log` yields.

    The logs of an audited world are replayed, as are those of a world with a violation.
    """
    forbidden.clear()
    live_steps = None if is_audited else LiveSteps()
    world = World(seed, CALLS, overrides, trace, live_steps.step if live_steps else step)
    world.run()
    outcome = _check(world, forbidden, live_steps)
    if outcome.violations and live_steps is not None:
        replayed = _check(world, forbidden, None)
        return replayed if replayed.violations else outcome
    return outcome


def run_seed(seed: int, forbidden: list[str], *, trace: Trace) -> Outcome:
    """Run one seed, and check the steps that its engines ran, then those of a replay."""
    outcome = run_world(seed, forbidden, trace=trace, is_audited=False)
    return outcome if outcome.violations else _check(outcome.world, forbidden, None)


def _check(world: World, forbidden: list[str], live_steps: LiveSteps | None) -> Outcome:
    histories = tuple(call_histories(world.memory, SHARD, live_steps=live_steps))
    violations = [*find_violations(world, histories), *(("", said) for said in forbidden)]
    return Outcome(world, histories, tuple(violations))


def run_worlds(
    seeds: Iterable[int],
    overrides: PartOverrides = NO_OVERRIDES,
    max_calls: int = 1 << 60,
    *,
    audit_every: int = AUDIT_EVERY,
) -> Tally:
    """Run seeds until `max_calls` calls are done, or twice the worlds that these should take.

    The seeds that `audit_every` divides are audited.
    """

    def run(seed: int, forbidden: list[str]) -> Tally:
        is_audited = seed % audit_every == 0
        return run_world(seed, forbidden, overrides, is_audited=is_audited).tally

    return run_tally(seeds, run, CALLS, max_calls)


def regression_seeds() -> list[int]:
    """Return the seeds that failed once."""
    return read_seeds(SEEDS_FILE)


def run_kept() -> Tally:
    """Run the seeds that failed once; all are audited."""
    return run_worlds(regression_seeds(), audit_every=1)
