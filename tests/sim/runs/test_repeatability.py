"""A seed plays the same alone, in any place of a run, and in another process."""

import os
import subprocess
import sys

import pytest

from tests.sim.__main__ import SIMULATOR as ENGINE
from tests.sim.cluster.__main__ import SIMULATOR as CLUSTER
from tests.sim.runs.first_seed import first_seed
from tests.sim.runs.outcome import trace_lines
from tests.sim.runs.show import show

SIMULATORS = {each.program: each for each in (ENGINE, CLUSTER)}
FAULTY = {ENGINE.program: (4, 9, 126), CLUSTER.program: (2, 10, 16)}


@pytest.mark.parametrize("program", SIMULATORS)
def test_seeds_repeat_in_another_place_of_a_run(program: str) -> None:
    """The worlds before a seed change nothing in it, to the millisecond."""
    simulator, seeds = SIMULATORS[program], FAULTY[program]
    played = {seed: trace_lines(seed, simulator.run_seed) for seed in seeds}
    for seed in reversed(seeds):
        assert trace_lines(seed, simulator.run_seed) == played[seed], seed


@pytest.mark.parametrize(
    ("program", "seed"),
    [
        (ENGINE.program, first_seed() + 2),
        (CLUSTER.program, first_seed() + 2),
        (CLUSTER.program, 2059240002),  # streams of a dead gateway ended in the order of a set
    ],
    ids=["new-calls", "new-calls-of-several-engines", "streams-of-a-dead-gateway"],
)
def test_seed_of_a_run_is_repeated_by_its_command(program: str, seed: int) -> None:
    """The command that a failure prints plays what the run has played, in its own process."""
    simulator = SIMULATORS[program]
    simulator.run_worlds(range(seed - 2, seed))
    played, is_sound = show(seed, simulator.run_seed, everything=True)

    repeated = subprocess.run(
        (sys.executable, "-m", program, "--seed", str(seed), "--all"),
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},  # sets have another order than here
    )

    assert repeated.stdout.splitlines() == played, repeated.stderr
    assert repeated.returncode == (0 if is_sound else 1)
