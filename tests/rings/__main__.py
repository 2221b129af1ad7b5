"""Runs rings of tests one after another, each in random order on all cores.

The simulators run beside the ring that is named after them, in the time that it leaves idle: they
have a clock of their own.

python -m tests.rings quick contract    # stops at the first ring that fails
python -m tests.rings --full live       # with the tests of tests/full.toml
python -m tests.rings live -- -k dial   # what follows `--` is pytest's

It prints the seed of the random order, each skip with its reason, and which tests ran twice: those
that failed while a process was late. A ring fails when it skips a test that tests/skips.toml does
not list, and when more than two tests would have to run twice; then none does.
"""

import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.harness.gate.full_list import TESTS
from tests.harness.gate.plugins import EVIDENCE
from tests.harness.gate.skip_list import read_skips
from tests.rings.ring import MAX_TWICE, Ring, Run, run_ring, seeded

FULL = "--full"
SKIPS = "tests/skips.toml"
RINGS = {
    "quick": Ring(("unit",), (("check",), ("format", "--check"))),
    "contract": Ring(("contract", "security"), extra_workers=2),
    "simulate": Ring(("sim",), is_timeless=True),
    "live": Ring(("live",), extra_workers=2, dist="loadgroup"),  # by lab: tests/live/conftest.py
}


def main(
    arguments: Sequence[str], rings: Mapping[str, Ring] = RINGS, root: Path = TESTS.parent
) -> int:
    """Run the named rings below `root`; returns the first exit status that is not 0."""
    names, options = _split(arguments, rings)
    options = seeded(options)
    counts, runs, times, status = Counter[str](), list[Run](), list[str](), 0
    shutil.rmtree(root / EVIDENCE, ignore_errors=True)  # of earlier runs
    for group in _groups(names, rings):
        began_s = time.monotonic()
        for name, run in _run_group(group, rings, options, root):
            runs.append(run)
            if failed := _judge(run, counts, read_skips(root / SKIPS)):
                status = failed
                _say(f"{name} failed; to repeat its order: {_command(name, options)}")
        times.append(f"{' beside '.join(group)} {time.monotonic() - began_s:.0f} s")
        if status:
            break
    _say(f"\n{', '.join(times)}")
    left_out = sum(run.results.left_out for run in runs)
    if left_out:
        _say(f"{left_out} tests run in `make full` only: tests/full.toml")
    twice = {test: lag for run in runs for test, lag in run.twice.items()}
    if twice:
        _say(f"{len(twice)} tests ran twice:")
        for test, lag in twice.items():
            _say(f"  {test}: {lag}")
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    _say(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return status


def _groups(names: Sequence[str], rings: Mapping[str, Ring]) -> Iterator[list[str]]:
    """Yield the rings that run at the same time: the last of a group has all the time it wants."""
    group = list[str]()
    for place, name in enumerate(names, 1):
        group.append(name)
        if not rings[name].is_timeless or place == len(names):
            yield group
            group = []


def _run_group(
    group: Sequence[str], rings: Mapping[str, Ring], options: Sequence[str], root: Path
) -> list[tuple[str, Run]]:
    """Run the last ring of a group, and the others in the time that it leaves idle."""
    *beside, name = group
    with ThreadPoolExecutor() as threads:
        started = [threads.submit(_run_beside, rings[each], options, root) for each in beside]
        _say(f"\n== {name} ==\nto repeat its order: {_command(name, options)}")
        runs = list[tuple[str, Run]]()
        try:
            runs.append((name, run_ring(rings[name], options, root)))
        finally:  # an interruption has ended the others, too: what they have found is said
            for each, future in zip(beside, started, strict=True):
                run, out = future.result()
                _say(f"\n== {each} ==\nto repeat its order: {_command(each, options)}\n{out}")
                runs.append((each, run))
    return runs


def _run_beside(ring: Ring, options: Sequence[str], root: Path) -> tuple[Run, str]:
    """Run a ring in the time that others leave idle; return its output, too."""
    with tempfile.TemporaryFile("w+") as out:
        run = run_ring(ring, options, root, out)
        out.seek(0)
        return run, out.read()


def _command(name: str, options: Sequence[str]) -> str:
    return shlex.join(("python", "-m", "tests.rings", name, "--", *options))


def _judge(run: Run, counts: Counter[str], skips: Sequence[str]) -> int:
    """Count the tests of a ring and print its skips; returns its exit status."""
    results = run.results
    unexpected = results.unexpected_skips(skips)
    for fault in results.faults:
        _say(f"fault of the run: {fault}")
    for test, reason in sorted(results.skipped.items()):
        how = "skipped, but not in tests/skips.toml:" if test in unexpected else "skipped:"
        _say(f"{how} {test}: {reason}")
    late = sum(bool(lag) for lag in results.failed.values())
    if late > MAX_TWICE:
        _say(f"{late} tests failed while a process was late: so many do not run twice")
    failed = len(results.failed) + len(unexpected)
    status = run.status or int(failed > 0)
    counts["passed"] += len(results.passed)
    counts["skipped"] += len(results.skipped) - len(unexpected)
    counts["failed"] += failed or int(status != 0)  # lint or pytest itself failed
    return status


def _split(arguments: Sequence[str], rings: Mapping[str, Ring]) -> tuple[list[str], list[str]]:
    given = [*arguments, "--"]
    end = given.index("--")
    names = [name for name in given[:end] if name != FULL]
    unknown = [name for name in names if name not in rings]
    if unknown or not names:
        sys.exit(f"name rings: {' '.join(rings)}")
    full = [FULL] if len(names) < end else []
    return names, [*full, *given[end + 1 : -1]]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # before the output of the rings


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
