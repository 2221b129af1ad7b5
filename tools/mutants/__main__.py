"""`python -m tools.mutants [--only PACKAGE] [--count N]`: small changes that tests must notice.

Changes the product in small ways, one at a time, and runs the tests that execute the changed line:
unit tests of the mirrored folder first, then other unit tests, then contract tests, then the
simulators. Exits with 1 when fewer mutants of a package are noticed than its target demands, with 2
when too few could be tried in time. With `--killers`, runs all unit tests of each mutant, and
records which fail. Figures and logs go to bench-out/mutants.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console

from tools.mutants.covering_tests import CONTRACT, UNIT, CoveringTests, measure
from tools.mutants.fork_client import ForkClient, start_servers
from tools.mutants.killers import Record
from tools.mutants.mutations import UNCHANGED, Mutant
from tools.mutants.packages import OUT, PACKAGES, ROOT
from tools.mutants.report import report
from tools.mutants.sample import sample
from tools.mutants.trial import (
    HYPOTHESIS,
    POLL_INTERVAL_S,
    TEST_TIMEOUT,
    RunningTrial,
    Stage,
    Trial,
)

MINUTES = 60.0
MIN_SHARE = 0.5  # of the sample must have been tried
LAST_STAGE_S = 30.0
PRELOADED = ("aiohttp", "hypothesis", "msgspec", "pydantic", "pytest_asyncio", "sqlalchemy")
Job = tuple[str, Mutant]


class Setup(Struct, frozen=True):
    """What all trials share."""

    covering: CoveringTests
    servers: list[ForkClient]
    deadline_s: float
    console: Console
    record: Record | None  # of all killers

    def stages(self, name: str, mutant: Mutant) -> list[Stage]:
        """Return the stages of a mutant: all its unit tests, or those that detect it soonest."""
        is_served = mutant.index == UNCHANGED or not self.covering.runs_at_import(mutant)
        last = PACKAGES[name].last_of(mutant.path)
        stages = [
            Stage(tests, self._seconds(tests), is_served and tests != list(last))
            for tests in self.covering.stages(PACKAGES[name], mutant)
        ]
        if self.record and (tests := self.covering.unit_tests(mutant)):
            stages[0] = Stage(tests, self._seconds(tests), is_served, stops_at_failure=False)
        return stages

    def _seconds(self, tests: list[str]) -> float:
        return sum(self.covering.seconds.get(test, LAST_STAGE_S) for test in tests)


def main() -> int:
    """Try the samples of the chosen packages."""
    options = _arguments().parse_args()
    console = Console()
    deadline_s = time.monotonic() + options.minutes * 60
    console.print(f"seed {options.seed}: finding the tests that run each line")
    covering = measure(OUT / "coverage")
    for module in PRELOADED:  # once, instead of in every forked process
        __import__(module)
    samples = {
        name: sample(PACKAGES[name], options.count or PACKAGES[name].count, options.seed)
        for name in options.only or PACKAGES
    }
    servers = start_servers(
        options.jobs, (*UNIT, *CONTRACT, *HYPOTHESIS, *TEST_TIMEOUT), OUT / "servers.log"
    )
    record = Record(OUT / "killers" / f"{options.seed}.jsonl") if options.killers else None
    setup = Setup(covering, servers, deadline_s, console, record)
    covered = {
        name: next(each for each in chosen if covering.stages(PACKAGES[name], each))
        for name, chosen in samples.items()
    }
    unchanged = {name: [replace(each, index=UNCHANGED)] for name, each in covered.items()}
    for name, tried in _try_all(unchanged, setup).items():
        if tried[0].verdict != "survived":
            raise RuntimeError(f"tests of {name} fail without a change: see {OUT}")
    trials = _try_all(samples, setup)
    for server in servers:
        server.close()
    is_reached = report(trials, console)
    too_few = [
        name for name, chosen in samples.items() if len(trials[name]) < MIN_SHARE * len(chosen)
    ]
    if too_few:
        console.print(f"too few mutants tried: {', '.join(too_few)}")
        return 2
    return 0 if is_reached else 1


def _try_all(samples: Mapping[str, list[Mutant]], setup: Setup) -> dict[str, list[Trial]]:
    """Try mutants of all packages in turn, on all servers, until the time is over."""
    jobs = deque(_in_turn(samples))
    free = list(setup.servers)
    running = dict[RunningTrial, str]()
    trials = defaultdict[str, list[Trial]](list)
    logs = OUT / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    while running or (jobs and time.monotonic() < setup.deadline_s):
        while jobs and free and time.monotonic() < setup.deadline_s:
            name, mutant = jobs.popleft()
            running[_start(name, mutant, setup, logs, free.pop())] = name
        for each, name in list(running.items()):
            if trial := each.poll():
                del running[each]
                free.append(each.server)
                trials[name].append(trial)
                if setup.record:
                    setup.record.add(trial.mutant, trial.killers)
                done = sum(map(len, trials.values()))
                setup.console.print(
                    f"{done} {name} {trial.verdict} {trial.mutant.path}", highlight=False
                )
        time.sleep(POLL_INTERVAL_S)  # processes end, or reach their time limits
    return trials


def _start(name: str, mutant: Mutant, setup: Setup, logs: Path, server: ForkClient) -> RunningTrial:
    log = logs / f"{mutant.path.replace('/', '.')}.{mutant.index}.log"
    log.unlink(missing_ok=True)
    return RunningTrial(mutant, setup.stages(name, mutant), log, server)


def _in_turn(samples: Mapping[str, list[Mutant]]) -> Iterator[Job]:
    """Take mutants of the packages in proportion, so that an early end shortens all samples."""
    shares = [
        (index / len(mutants), name, index)
        for name, mutants in samples.items()
        for index in range(len(mutants))
    ]
    return ((name, samples[name][index]) for _, name, index in sorted(shares))


def _seed_of_commit() -> int:
    """Return another seed for each commit, so that each run can find what no other has."""
    command = ("git", "rev-parse", "--short=8", "HEAD")
    return int(subprocess.check_output(command, cwd=ROOT, text=True), 16)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=PACKAGES, help="this package (repeatable)"
    )
    parser.add_argument("--count", type=int, help="mutants for each package")
    parser.add_argument("--seed", type=int, default=_seed_of_commit(), help="seed of the sample")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time limit")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="mutants at a time"
    )
    parser.add_argument("--killers", action="store_true", help="record all unit tests that fail")
    return parser


if __name__ == "__main__":
    sys.exit(main())
