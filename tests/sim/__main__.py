"""Run many simulated calls, or one seed in detail."""

import argparse
import gc
import itertools
import sys
from collections.abc import Iterator

from tests.sim.show import show
from tests.sim.tally import Tally
from tests.sim.worlds import AUDIT_EVERY, CALLS, regression_seeds, run_world, run_worlds

PROGRESS_CALLS = 5_000  # calls between two progress lines


def main() -> int:
    """Run the command; return 1 when a check found a violation."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000, help="number of calls")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seed", type=int, help="run one seed and print its faulty calls")
    parser.add_argument("--all", action="store_true", help="with --seed: print all calls")
    parser.add_argument("--seeds-file", action="store_true", help="run the seeds that failed once")
    options = parser.parse_args()
    if options.seed is not None:
        lines, is_sound = show(options.seed, run_world, everything=options.all)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return 0 if is_sound else 1
    gc.freeze()
    gc.set_threshold(100_000, 5, 5)  # a world is discarded as a whole: 7 % more calls/s
    seeds = iter(regression_seeds()) if options.seeds_file else itertools.count(options.first)
    audit_every = 1 if options.seeds_file else AUDIT_EVERY
    tally = Tally()
    try:
        _run(tally, seeds, options.calls, audit_every)
    except KeyboardInterrupt:
        sys.stdout.write("interrupted; the finished part:\n")
    sys.stdout.writelines(f"{line}\n" for line in _report(tally))
    return 1 if tally.failed else 0


def _run(tally: Tally, seeds: Iterator[int], calls: int, audit_every: int) -> None:
    while tally.calls < calls:
        max_calls = min(PROGRESS_CALLS, calls - tally.calls)
        part = run_worlds(seeds, max_calls=max_calls, audit_every=audit_every)
        if not part.worlds:
            return
        tally.add(part)
        sys.stderr.write(f"{tally.calls} calls, failed seeds: {[*tally.failed] or 'none'}\n")


def _report(tally: Tally) -> list[str]:
    pace = f"{tally.steps} steps, {tally.calls / (tally.seconds or 1):.0f} calls/s"
    lines = [f"{tally.calls} calls in {tally.worlds} worlds of at most {CALLS} calls: {pace}"]
    lines += [f"  {count:8} {kind}" for kind, count in sorted(tally.faults.items())]
    for seed, violations in tally.failed.items():
        lines.append(
            f"seed {seed}: {len(violations)} violations; python -m tests.sim --seed {seed}"
        )
        lines += [f"    {subject}: {message}" for subject, message in violations[:3]]
    return lines


if __name__ == "__main__":
    sys.exit(main())
