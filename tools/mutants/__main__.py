"""`python -m tools.mutants [--only PACKAGE] [--count N]`: small changes that tests must notice.

Changes the product in small ways, one at a time, and runs the tests that execute the changed line:
unit tests of the mirrored folder first, then other unit tests, then contract tests, then the
simulator. Exits with 1 when fewer mutants of a package are noticed than its target demands, with 2
when too few could be tried in time. Figures and logs go to bench-out/mutants.
"""

import argparse
import os
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from tools.mutants.covering_tests import CoveringTests, measure
from tools.mutants.mutations import UNCHANGED, Mutant
from tools.mutants.packages import PACKAGES, ROOT
from tools.mutants.report import report
from tools.mutants.sample import sample
from tools.mutants.trial import POLL_INTERVAL_S, RunningTrial, Stage, Trial

OUT = ROOT / "bench-out" / "mutants"
SEED = 20_261_122
MINUTES = 60.0
MIN_SHARE = 0.5  # of the sample must have been tried
LAST_STAGE_S = 30.0
PRELOADED = ("aiohttp", "hypothesis", "msgspec", "pydantic", "pytest_asyncio", "sqlalchemy")
Job = tuple[str, Mutant]


def main() -> int:
    """Try the samples of the chosen packages."""
    options = _arguments().parse_args()
    console = Console()
    deadline_s = time.monotonic() + options.minutes * 60
    console.print("finding the tests that run each line")
    covering = measure(OUT / "coverage")
    for module in PRELOADED:  # once, instead of in every forked process
        __import__(module)
    samples = {
        name: sample(PACKAGES[name], options.count or PACKAGES[name].count, options.seed)
        for name in options.only or PACKAGES
    }
    unchanged = {name: [replace(chosen[0], index=UNCHANGED)] for name, chosen in samples.items()}
    for name, tried in _try_all(unchanged, covering, deadline_s, console).items():
        if tried[0].verdict != "survived":
            raise RuntimeError(f"tests of {name} fail without a change: see {OUT}")
    trials = _try_all(samples, covering, deadline_s, console)
    is_reached = report(trials, console)
    too_few = [
        name for name, chosen in samples.items() if len(trials[name]) < MIN_SHARE * len(chosen)
    ]
    if too_few:
        console.print(f"too few mutants tried: {', '.join(too_few)}")
        return 2
    return 0 if is_reached else 1


def _try_all(
    samples: Mapping[str, list[Mutant]],
    covering: CoveringTests,
    deadline_s: float,
    console: Console,
) -> dict[str, list[Trial]]:
    """Try mutants of all packages in turn, on all cores, until the time is over."""
    jobs = deque(_in_turn(samples))
    running = dict[RunningTrial, str]()
    trials = defaultdict[str, list[Trial]](list)
    logs = OUT / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    while running or (jobs and time.monotonic() < deadline_s):
        while jobs and len(running) < len(os.sched_getaffinity(0)):
            if time.monotonic() > deadline_s:
                break
            name, mutant = jobs.popleft()
            running[_start(name, mutant, covering, logs)] = name
        for each, name in list(running.items()):
            if trial := each.poll():
                del running[each]
                trials[name].append(trial)
                done = sum(map(len, trials.values()))
                console.print(f"{done} {name} {trial.verdict} {trial.mutant.path}", highlight=False)
        time.sleep(POLL_INTERVAL_S)  # processes end, or reach their time limits
    return trials


def _start(name: str, mutant: Mutant, covering: CoveringTests, logs: Path) -> RunningTrial:
    stages = [
        Stage(tests, sum(covering.seconds.get(test, LAST_STAGE_S) for test in tests))
        for tests in covering.stages(PACKAGES[name], mutant)
    ]
    log = logs / f"{mutant.path.replace('/', '.')}.{mutant.index}.log"
    log.unlink(missing_ok=True)
    return RunningTrial(mutant, stages, log)


def _in_turn(samples: Mapping[str, list[Mutant]]) -> Iterator[Job]:
    """Take mutants of the packages in proportion, so that an early end shortens all samples."""
    shares = [
        (index / len(mutants), name, index)
        for name, mutants in samples.items()
        for index in range(len(mutants))
    ]
    return ((name, samples[name][index]) for _, name, index in sorted(shares))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=PACKAGES, help="this package (repeatable)"
    )
    parser.add_argument("--count", type=int, help="mutants for each package")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the sample")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time limit")
    return parser


if __name__ == "__main__":
    sys.exit(main())
