"""How a ring ends: tests that run twice, skips that are not listed, its closing lines."""

from pathlib import Path

import pytest

from tests.contract.gate.project import ROOT, Project
from tests.rings.__main__ import main
from tests.rings.ring import Ring

FULL = """
[[group]]
reason = "variant"
proven = "the other"
tests = ["tests/contract/test_full.py::test_a"]
"""
TESTS = """
import ctypes
from pathlib import Path

FOLDER = Path(__file__).parent

def is_first_run(name):
    ran = FOLDER / name
    is_first = not ran.exists()
    ran.touch()
    return is_first

def fail_late():
    ctypes.PyDLL(None).usleep(400_000)  # it keeps the GIL: no other thread runs
    raise AssertionError

def test_passes_later(tmp_path):
    if is_first_run("passes"):
        fail_late()

def test_fails_again(tmp_path):
    fail_late()
"""
FAILS_ONCE = f"{TESTS}\ndef test_fails_once(): assert not is_first_run('fails')\n"
THREE = f"{TESTS}\ndef test_fails_too(): fail_late()\n"
SKIPS = "import pytest\n\n@pytest.mark.skip(reason='no tool')\ndef test_a(): pass\n"
IDLE = """
import os

def test_idle(pytestconfig):
    assert os.sched_getscheduler(0) == os.SCHED_IDLE
    assert pytestconfig.getoption("timeout") == 0
"""
RINGS = {
    "contract": Ring(("contract",)),
    "quick": Ring(("unit",)),
    "simulate": Ring(("sim",), is_timeless=True),
}
REPEAT = "to repeat its order: python -m tests.rings contract -- -n 0 --randomly-seed="


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Make a folder of tests for a ring."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return Project(tmp_path, FULL)


def lines_of(
    project: Project, capfd: pytest.CaptureFixture[str], *options: str, ring: str = "contract"
) -> tuple[int, list[str]]:
    """Run rings without workers, and return the exit status and what they print."""
    status = main([*ring.split(), "--", "-n", "0", *options], RINGS, project.folder)
    return status, capfd.readouterr().out.splitlines()


def test_late_failures_run_twice(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """It is said, the second outcome counts, and the evidence of both runs is kept."""
    project.add("test_a.py", TESTS, "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")
    assert "2 tests ran twice:" in lines
    for name in ("test_passes_later", "test_fails_again"):
        said = f"  tests/contract/test_a.py::{name}: test process "
        assert any(line.startswith(said) for line in lines)
        assert (project.folder / f".evidence/contract_test_a.py_{name}/machine.txt").exists()
    again = list(project.folder.glob(".evidence/second-run/*/machine.txt"))
    assert [path.parent.name for path in again] == ["contract_test_a.py_test_fails_again"]


def test_a_late_failure_that_passes_is_no_failure(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """The ring passes."""
    project.add("test_a.py", TESTS, "contract")
    status, lines = lines_of(project, capfd, "-k", "later")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")
    assert "1 tests ran twice:" in lines


def test_a_failure_that_was_not_late_is_final(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """It would have passed, but nothing says that the machine is to blame."""
    project.add("test_a.py", FAILS_ONCE, "unit")  # units are not measured
    status, lines = lines_of(project, capfd, "-k", "once", ring="quick")
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")
    assert not any("ran twice" in line for line in lines)


def test_more_than_two_do_not_run_twice(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """The ring fails."""
    project.add("test_a.py", THREE, "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (1, "0 passed, 3 failed")
    assert "3 tests failed while a process was late: so many do not run twice" in lines


def test_a_skip_is_said_and_fails(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """Unless the list has it; the reason is printed either way, and the order can be repeated."""
    project.add("test_a.py", SKIPS, "contract")
    project.add("test_b.py", SKIPS, "contract")
    project.allow_skips("tests/contract/test_b.py")
    status, lines = lines_of(project, capfd, "--randomly-seed=7")
    said = "tests/contract/test_a.py::test_a: no tool"
    assert f"skipped, but not in tests/skips.toml: {said}" in lines
    assert f"skipped: {said.replace('test_a.py', 'test_b.py')}" in lines
    assert (status, lines[-1]) == (1, "0 passed, 1 failed, 1 skipped")
    assert f"{REPEAT}7" in lines


@pytest.mark.parametrize(
    ("ring", "status", "counts"),
    [("simulate contract", 0, "2 passed, 0 failed"), ("simulate", 1, "0 passed, 1 failed")],
)
def test_simulators_take_idle_time(
    project: Project, capfd: pytest.CaptureFixture[str], ring: str, status: int, counts: str
) -> None:
    """Beside the ring that follows; alone they have all time, so the planted test fails."""
    project.add("test_a.py", IDLE, "sim")
    project.add("test_b.py", "def test_b(): pass\n", "contract")
    ended, lines = lines_of(project, capfd, ring=ring)
    assert (ended, lines[-1]) == (status, counts)
    assert "== simulate ==" in lines


def test_what_did_not_run_is_said(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """Tests of the full list are counted; each run has a seed of its own, which is printed."""
    project.add("test_full.py", "def test_a(): pass\ndef test_b(): pass\n", "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (0, "1 passed, 0 failed")
    assert "1 tests run in `make full` only: tests/full.toml" in lines
    (seed,) = (line.removeprefix(REPEAT) for line in lines if line.startswith(REPEAT))
    assert int(seed) >= 0
