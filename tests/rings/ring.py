"""A ring of tests: its folders, and how pytest runs them, once more if the machine was late."""

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct, field

from tests.harness.gate.plugins import EVIDENCE
from tests.harness.gate.results import Results
from tests.rings import supervisor

PLUGINS = ("xdist", "randomly", "hypothesispytest")  # no others are loaded: see pyproject.toml
MAX_WORKERS = 4  # each worker runs its own servers
SEED = "--randomly-seed"
WITHOUT_LIMIT = "--timeout=0"  # of a test's real time: without idle time it makes no progress
TESTS_FAILED = 1  # of pytest's exit statuses: others are faults of the session
MAX_TWICE = 2  # tests of a ring that may run twice
LONGEST_S = 3_600  # only a hang takes so long


class Ring(Struct, frozen=True):
    """Folders of tests, and ruff commands that must pass first."""

    folders: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    extra_workers: int = 0  # beyond one for each core: its tests mostly wait
    dist: str = "worksteal"  # how xdist gives tests to workers
    is_timeless: bool = False  # it may run beside the next ring, on what that leaves idle


class Run(Struct):
    """How a ring ended; `twice` has the tests that ran twice, with what was late the first time."""

    status: int = 0
    results: Results = field(default_factory=Results)
    twice: dict[str, str] = field(default_factory=dict)


def seeded(options: Sequence[str]) -> list[str]:
    """Return pytest's options with a seed of the random order, unless they have one."""
    has_seed = any(each.startswith(SEED) for each in options)
    return [*options] if has_seed else [*options, f"{SEED}={secrets.randbelow(2**32)}"]


def run_ring(
    ring: Ring, options: Sequence[str], root: Path, idle_out: IO[str] | None = None
) -> Run:
    """Run a ring below `root`; a test that fails while a process is late runs once more, alone.

    With `idle_out`, where its output goes then, it has only the time of processors that nothing
    else wants.
    """
    for command in ring.before:
        ruff = Path(sys.executable).with_name("ruff")
        linted = subprocess.run((ruff, *command), check=False, cwd=root)
        if linted.returncode != 0:
            return Run(linted.returncode)
    workers = min(len(os.sched_getaffinity(0)) + ring.extra_workers, MAX_WORKERS)
    folders = [f"tests/{each}" for each in ring.folders]
    parallel = ["-n", str(workers), "--dist", ring.dist, "--durations", "25"]
    arguments = [*folders, *parallel, *([WITHOUT_LIMIT] if idle_out else ()), *options]
    run = _run_pytest(arguments, root, idle_out)
    late = {test: lag for test, lag in run.results.failed.items() if lag}
    if 0 < len(late) <= MAX_TWICE and not run.results.faults:
        again = _run_pytest([*late, *options, "--evidence", f"{EVIDENCE}/second-run"], root)
        run.results.replace(again.results)
        run.twice = late
        if run.status == TESTS_FAILED:
            run.status = again.status if again.status != 0 else int(bool(run.results.failed))
    return run


def _run_pytest(arguments: Sequence[str], root: Path, idle_out: IO[str] | None = None) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        path, left = Path(folder) / "results.json", Path(folder) / "left"
        bound = ("setpriv", "--pdeathsig", "TERM", "--")  # it must not outlive its parent
        argv = [
            *(*bound, sys.executable, supervisor.__file__, str(left), *bound),
            *(("chrt", "--idle", "0") if idle_out else ()),
            *(sys.executable, "-m", "pytest", "-q", "--results", str(path)),
            *(part for plugin in PLUGINS for part in ("-p", plugin)),
            *arguments,
        ]
        environ = {name: each for name, each in os.environ.items() if name != "PYTEST_ADDOPTS"}
        with subprocess.Popen(
            argv, cwd=root, env=environ, stdout=idle_out, stderr=idle_out
        ) as process:
            try:
                status = process.wait(LONGEST_S)
            except subprocess.TimeoutExpired:
                return Run(TESTS_FAILED, Results(faults=[f"it has not ended in {LONGEST_S} s"]))
            finally:
                process.terminate()
        if not (path.exists() and left.exists()):
            return Run(status or TESTS_FAILED)
        results = msgspec.json.decode(path.read_bytes(), type=Results)
        results.faults += (f"left behind: {each}" for each in left.read_text().splitlines())
        return Run(status or int(bool(results.faults)), results)
