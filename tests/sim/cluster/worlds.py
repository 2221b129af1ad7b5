"""Runs seeds and scripts of several engines, and checks them."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from tests.sim.call_histories import CallHistory
from tests.sim.cluster.checks import find_cluster_violations
from tests.sim.cluster.environment import ClusterOverrides
from tests.sim.cluster.histories import read_histories
from tests.sim.cluster.script import ClusterScript, ScriptedCluster
from tests.sim.cluster.world import CALLS, ClusterWorld, Trace
from tests.sim.engine_log import silenced_log
from tests.sim.runs.tally import Tally, read_seeds, run_tally

NO_OVERRIDES = ClusterOverrides()
PROGRAM = "tests.sim.cluster"  # its name for `python -m`
SEEDS_FILE = Path(__file__).with_name("seeds.txt")


class Outcome(Struct, frozen=True):
    """One world: its complete calls, the ids of the incomplete ones, and the violations."""

    world: ClusterWorld
    histories: tuple[CallHistory, ...]
    incomplete: frozenset[str]
    violations: tuple[tuple[str, str], ...]

    @property
    def tally(self) -> Tally:
        return Tally(
            worlds=1,
            calls=len(self.histories) + len(self.incomplete),
            partial=len(self.incomplete),
            steps=sum(len(history.steps) for history in self.histories),
            faults=self.world.faults.counts + self.world.servers.faults,
            failed={self.world.seed: self.violations} if self.violations else {},
        )


def run_world(
    seed: int,
    forbidden: list[str],
    overrides: ClusterOverrides = NO_OVERRIDES,
    trace: Trace | None = None,
) -> Outcome:
    """Run and check one seed; `forbidden` is the list that `silenced_log` yields."""
    forbidden.clear()
    world = ClusterWorld(seed, overrides, trace)
    world.run()
    histories, incomplete = read_histories(world)
    violations = [
        *find_cluster_violations(world, histories, incomplete),
        *(("", said) for said in forbidden),
    ]
    return Outcome(world, histories, incomplete, tuple(violations))


def run_worlds(
    seeds: Iterable[int], overrides: ClusterOverrides = NO_OVERRIDES, max_calls: int = 1 << 60
) -> Tally:
    """Run seeds until `max_calls` calls are done, or twice the worlds that these should take."""
    return run_tally(
        seeds, lambda seed, forbidden: run_world(seed, forbidden, overrides).tally, CALLS, max_calls
    )


def regression_seeds() -> list[int]:
    """Return the seeds that failed once."""
    return read_seeds(SEEDS_FILE)


def run_kept() -> Tally:
    """Run the seeds that failed once."""
    return run_worlds(regression_seeds())


def run_script(script: ClusterScript, overrides: ClusterOverrides) -> list[str]:
    """Run a script and return what the checks find."""
    with silenced_log():
        world = ScriptedCluster(script, overrides)
        world.run()
        histories, incomplete = read_histories(world)
    return [message for _, message in find_cluster_violations(world, histories, incomplete)]
