"""Runs rings of tests one after another, each in random order on all cores.

python -m tests.rings quick contract    # stops at the first ring that fails
python -m tests.rings --full live       # with the tests of tests/full.toml
python -m tests.rings live -- -k dial   # what follows `--` is pytest's
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from msgspec import Struct

HERE = Path(__file__).parent
PLUGINS = ("xdist", "randomly", "hypothesispytest")  # no others are loaded: see pyproject.toml
FULL = "--full"
MAX_WORKERS = 4  # each worker runs its own servers


class Ring(Struct, frozen=True):
    """Folders of tests, and ruff commands that must pass first."""

    folders: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    extra_workers: int = 0  # beyond one for each core: its tests mostly wait


RINGS = {
    "quick": Ring(("unit",), (("check",), ("format", "--check"))),
    "contract": Ring(("contract", "security"), extra_workers=1),
    "simulate": Ring(("sim",)),
    "live": Ring(("live",), extra_workers=1),
}


def main(arguments: Sequence[str]) -> int:
    """Run the named rings; returns the first exit status that is not 0."""
    names, options = _split(arguments)
    counts, status = Counter[str](), 0
    times = []
    for name in names:
        _say(f"\n== {name} ==")
        began_s = time.monotonic()
        status, counted = _run(RINGS[name], options)
        if status != 0 and not counted["failed"]:
            counted["failed"] = 1  # lint or pytest itself failed
        counts += counted
        times.append(f"{name} {time.monotonic() - began_s:.0f} s")
        if status != 0:
            break
    _say(f"\n{', '.join(times)}")
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    _say(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return status


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    given = [*arguments, "--"]
    end = given.index("--")
    names = [name for name in given[:end] if name != FULL]
    unknown = [name for name in names if name not in RINGS]
    if unknown or not names:
        sys.exit(f"name rings: {' '.join(RINGS)}")
    full = [FULL] if len(names) < end else []
    return names, [*full, *given[end + 1 : -1]]


def _run(ring: Ring, options: Sequence[str]) -> tuple[int, Counter[str]]:
    for command in ring.before:
        linted = subprocess.run((_program("ruff"), *command), check=False, cwd=HERE.parent)
        if linted.returncode != 0:
            return linted.returncode, Counter()
    workers = min(len(os.sched_getaffinity(0)) + ring.extra_workers, MAX_WORKERS)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        argv = [
            *("setpriv", "--pdeathsig", "TERM", "--"),  # it must not outlive this process
            *(sys.executable, "-m", "pytest", *(str(HERE / each) for each in ring.folders), "-q"),
            *(part for plugin in PLUGINS for part in ("-p", plugin)),
            *("-n", str(workers), "--dist", "worksteal"),
            *("--durations", "25", "--junitxml", str(report)),
            *options,
        ]
        status = subprocess.run(argv, check=False, cwd=HERE.parent).returncode
        return status, _counted(report)


def _counted(report: Path) -> Counter[str]:
    """Return the number of tests by outcome; a test that fails twice counts once."""
    if not report.exists():
        return Counter()
    ends = Counter[str]()
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own file
        tags = {child.tag for child in case}
        if tags & {"failure", "error"}:
            ends["failed"] += 1
        else:
            ends["skipped" if "skipped" in tags else "passed"] += 1
    return ends


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # before the output of the rings


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
