"""Run many calls over several engines on all cores, or one seed in detail."""

import argparse
import os
import signal
import sys

from tests.sim.cluster.long_run import LongRun
from tests.sim.cluster.report import report
from tests.sim.cluster.worlds import regression_seeds, run_world, run_worlds
from tests.sim.show import show


def main() -> int:
    """Run the command; return 1 when a check found a violation."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.cluster", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000, help="number of calls")
    parser.add_argument("--minutes", type=float, default=120, help="time limit")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="number of processes")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seed", type=int, help="run one seed and print its faulty calls")
    parser.add_argument("--all", action="store_true", help="with --seed: print all calls")
    parser.add_argument("--seeds-file", action="store_true", help="run the seeds that failed once")
    options = parser.parse_args()
    if options.seed is not None:
        lines, is_sound = show(options.seed, run_world, everything=options.all)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return 0 if is_sound else 1
    if options.seeds_file:
        tally = run_worlds(regression_seeds())
    else:
        signal.signal(
            signal.SIGTERM, signal.default_int_handler
        )  # its worker processes end with it
        tally = LongRun(options.calls, options.minutes * 60, options.workers).run(options.first)
    sys.stdout.writelines(f"{line}\n" for line in report(tally))
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
