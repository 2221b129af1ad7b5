"""The commands of both simulators: many worlds on all cores, or one seed in detail."""

import argparse
import os
import signal
import sys
from collections.abc import Callable

from msgspec import Struct

from tests.sim.runs.first_seed import first_seed
from tests.sim.runs.long_run import LongRun
from tests.sim.runs.outcome import Run
from tests.sim.runs.report import report
from tests.sim.runs.show import show
from tests.sim.runs.tally import Tally


class Simulator(Struct, frozen=True):
    """A simulator, and how much it runs by default."""

    program: str
    calls: int
    run_seed: Run
    run_worlds: Callable[[range], Tally]
    run_kept: Callable[[], Tally]


def main(simulator: Simulator, purpose: str | None) -> int:
    """Run the command; return 1 when a check found a violation."""
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(prog=f"python -m {simulator.program}", description=purpose)
    parser.add_argument("--calls", type=int, default=simulator.calls, help="number of calls")
    parser.add_argument("--minutes", type=float, default=120, help="time limit")
    parser.add_argument("--workers", type=int, default=cores, help="number of processes")
    parser.add_argument("--first", type=int, help="first seed; else it derives from the commit")
    parser.add_argument("--seed", type=int, help="run one seed and print its faulty calls")
    parser.add_argument("--all", action="store_true", help="with --seed: print all calls")
    parser.add_argument("--seeds-file", action="store_true", help="run the seeds that failed once")
    options = parser.parse_args()
    if options.seed is not None:
        lines, is_sound = show(options.seed, simulator.run_seed, everything=options.all)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return 0 if is_sound else 1
    if options.seeds_file:
        tally = simulator.run_kept()
    else:
        # On SIGTERM the worker processes end with it, and the finished part is reported.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        run = LongRun(simulator.run_worlds, options.calls, options.minutes * 60, options.workers)
        tally = run.run(first_seed() if options.first is None else options.first)
    sys.stdout.writelines(f"{line}\n" for line in report(tally, simulator.program))
    return 1 if tally.failed else 0
