"""What a gate must not hide: faults of pytest, of its plugins, and of what they collect."""

from pathlib import Path

import pytest

from tests.contract.gate.project import ROOT, SCHEDULED, Project
from tests.rings.__main__ import main
from tests.rings.ring import Ring

RINGS = {"contract": Ring(("contract",))}
LATE_ONCE = """
import ctypes
from pathlib import Path

def test_passes_later():
    ran = Path(__file__).parent / "ran"
    if not ran.exists():
        ran.touch()
        ctypes.PyDLL(None).usleep(400_000)  # it keeps the GIL: no other thread runs
        raise AssertionError
"""
LATE_END = """
import ctypes
import pytest

@pytest.fixture
def server():
    yield
    ctypes.PyDLL(None).usleep(400_000)  # being late is the subject
    raise AssertionError

def test_fails(server):
    assert not "at once"
"""
EXPECTED = """
import pytest

@pytest.mark.xfail(reason="one day")  # planted: the gate has to say it
def test_a(): raise AssertionError

@pytest.fixture
def postgres(): pytest.xfail("not installed")  # planted: the gate has to say it

def test_b(postgres): pass
"""
LEAVES = """
import subprocess
from pathlib import Path

def test_a():
    argv = ("setsid", "sh", "-c", "sleep 299 & echo $$ $!; wait")  # planted
    shell = subprocess.Popen(argv, stdout=subprocess.PIPE)
    Path(__file__).with_name("pids").write_bytes(shell.stdout.readline())
    shell.stdout.close()
    shell.returncode = 0  # so that Popen does not warn
"""
LEAKS = """
from pathlib import Path

def test_a():
    path = Path(__file__)
    leak = [path.open()]
    leak.append(leak)  # only the collector finds it
"""
FROZEN = """
import gc

def test_{name}():
    assert gc.get_freeze_count() > 10_000  # pytest, its plugins, and the tests
    gc.unfreeze()
"""
SKIPPED = "from pytest import skip\n\nskip('no tool', allow_module_level=True)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Make a folder of tests for a ring."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return Project(tmp_path)


def lines_of(
    project: Project, capfd: pytest.CaptureFixture[str], workers: int = 1
) -> tuple[int, list[str]]:
    """Run the ring, and return the exit status and what it prints."""
    status = main(["contract", "--", "-n", str(workers)], RINGS, project.folder)
    return status, capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("others", ["", "def test_b(): pass\n"])
def test_an_internal_error_fails(
    project: Project, capfd: pytest.CaptureFixture[str], others: str
) -> None:
    """A report that cannot be sent is the end of a worker, which xdist takes for a good one."""
    project.add("test_a.py", f'{others}def test_a(): assert "\\udcff" == "x"\n', "contract")
    status, lines = lines_of(project, capfd)
    assert status != 0
    assert any(line.startswith("fault of the run: internal error: ") for line in lines)
    (said,) = (line for line in lines if "have no outcome: " in line)  # others may have come first
    assert "tests/contract/test_a.py::test_a" in said.partition(": ")[2]


def test_a_repetition_hides_no_collection_error(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """With a fault of the run no test runs twice."""
    project.add("test_a.py", "import nothing\n", "contract")
    project.add("test_b.py", LATE_ONCE, "contract")
    status, lines = lines_of(project, capfd)
    assert status != 0
    assert "fault of the run: not collected: tests/contract/test_a.py" in lines
    assert not any("ran twice" in line for line in lines)


def test_a_failure_is_not_late_because_its_end_is(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first phase that fails decides whether the test runs twice; both have evidence."""
    project.add("test_a.py", LATE_END, "contract")
    status, lines = lines_of(project, capfd, workers=0)
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")
    assert not any("ran twice" in line for line in lines)
    evidence = {path.parent.name for path in project.folder.glob(".evidence/*/machine.txt")}
    assert evidence == {"contract_test_a.py_test_fails", "contract_test_a.py_test_fails-teardown"}


def test_an_expected_failure_is_a_skip(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """It is said, and has to be in the list."""
    project.add("test_a.py", EXPECTED, "contract")
    project.allow_skips("tests/contract/test_a.py::test_a")
    status, lines = lines_of(project, capfd)
    said = "skipped, but not in tests/skips.toml: tests/contract/test_a.py::test_b"
    assert f"{said}: expected to fail: not installed" in lines
    assert "skipped: tests/contract/test_a.py::test_a: expected to fail: one day" in lines
    assert (status, lines[-1]) == (1, "0 passed, 1 failed, 1 skipped")


def test_each_skipped_file_is_said(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """Also one that is skipped with the same words as another one."""
    for name in ("test_a.py", "test_b.py"):
        project.add(name, "from helper import *\n", "contract")
    (project.folder / "helper.py").write_text(SKIPPED)
    project.add("test_c.py", "def test_c(): pass\n", "contract")
    (project.folder / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    )
    project.allow_skips("tests/contract/test_a.py")
    status, lines = lines_of(project, capfd)
    assert "skipped, but not in tests/skips.toml: tests/contract/test_b.py: no tool" in lines
    assert (status, lines[-1]) == (1, "1 passed, 1 failed, 1 skipped")


def test_options_of_the_environment_do_not_count(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A developer's own options would leave tests out."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    project.add("test_a.py", "def test_a(): raise AssertionError\n", "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_worker_that_is_killed(
    project: Project, capfd: pytest.CaptureFixture[str], workers: int
) -> None:
    """Its test has failed and runs no more; all others run, once."""
    project.add("conftest.py", SCHEDULED, "contract")
    project.add(
        "test_a.py",
        "import os\nimport pytest\n\n@pytest.mark.parametrize('n', range(20))\n"
        "def test_a(n): n != 7 or os.kill(os.getpid(), 9)\n",
        "contract",
    )
    status, lines = lines_of(project, capfd, workers)
    assert (status, lines[-1]) == (1, "19 passed, 1 failed")
    files = (project.folder / "tests/contract").glob("gw*")
    ran = [name for path in files for name in path.read_text().split()]
    assert sorted(ran) == sorted(f"test_a[{n}]" for n in range(20))


def test_a_log_that_disappears_hides_no_failure(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """A server that ends may delete its folder while evidence is collected."""
    body = "def test_a(tmp_path):\n    (tmp_path / 'x.log').symlink_to('gone')\n    assert False\n"
    project.add("test_a.py", body, "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")
    assert not any("fault of the run" in line for line in lines)


def test_a_process_that_is_left_behind(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """It is named, with its children, and ended."""
    project.add("test_a.py", LEAVES, "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")
    (said,) = (line for line in lines if line.startswith("fault of the run: left behind: "))
    assert "sleep 299 &" in said
    pids = (project.folder / "tests/contract/pids").read_text().split()
    assert [Path("/proc", pid).exists() for pid in pids] == [False, False]


def test_a_file_that_the_last_test_leaves_open(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is said, and the run fails: pytest finds it after the last report."""
    kinds = '"error::ResourceWarning", "error::pytest.PytestUnraisableExceptionWarning"'
    options = f"[tool.pytest.ini_options]\nfilterwarnings = [{kinds}]\n"
    (project.folder / "pyproject.toml").write_text(options)
    project.add("test_a.py", LEAKS, "contract")
    status, lines = lines_of(project, capfd)
    (said,) = (line for line in lines if line.startswith("fault of the run: left open: "))
    assert "test_a.py" in said
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")


def test_the_heap_is_frozen_between_files(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """A collection of garbage in a test does not look at all that a worker has imported."""
    for name in "ab":
        project.add(f"test_{name}.py", FROZEN.format(name=name), "contract")
    status, lines = lines_of(project, capfd)
    assert (status, lines[-1]) == (0, "2 passed, 0 failed")
