"""What a failed test leaves: the ends of its logs, load, and how late the processes were."""

import ctypes
from pathlib import Path

import pytest

from tests.contract.gate.project import Project
from tests.harness.evidence.lag import LAG_LIMIT_MS, LATE_LIMIT_MS, PROCESS, Lag, LagMeter
from tests.harness.until import until

FAILS = """
import subprocess, sys, time

def test_a(tmp_path):
    (tmp_path / "output.log").write_text("".join(f"line {n}\\n" for n in range(200)))
    with subprocess.Popen(["sleep", "1"], cwd=tmp_path) as server:
        server.wait()
    assert False
"""
BLOCKS_ITS_LOOP = """
import asyncio, time

async def test_a():
    await asyncio.sleep(0.2)
    time.sleep(0.4)
    await asyncio.sleep(0.1)
    assert False
"""


def test_a_failure_has_logs_and_load(tmp_path: Path) -> None:
    """The last 100 lines of each log, in the report of a worker and in files."""
    project = Project(tmp_path)
    project.add("test_a.py", FAILS, "contract")
    printed = project.run("tests", "-n", "1").stdout
    folder = tmp_path / ".evidence/contract_test_a.py_test_a"
    assert f"files in {folder}: no audio" in printed
    assert "line 199\n" in printed
    assert "\nline 100\n" in printed
    assert "line 99\n" not in printed
    assert "load average" in (folder / "machine.txt").read_text()
    assert "test process: at most" in printed
    assert "sleep in test_a0 (" in printed
    assert [path.read_text().count("\n") for path in folder.glob("end-of-*")] == [100]


def test_a_blocked_loop_is_late(tmp_path: Path) -> None:
    """Its own work delays a test as much as that of others."""
    project = Project(tmp_path)
    project.add("test_a.py", BLOCKS_ITS_LOOP, "live")
    results = tmp_path / "results.json"
    project.run("tests", "--results", str(results), "-p", "asyncio", "-o", "asyncio_mode=auto")
    assert "event loop of the test" in results.read_text()


def test_a_test_without_real_programs_has_no_evidence(tmp_path: Path) -> None:
    """As those of units and of the simulator."""
    project = Project(tmp_path)
    project.add("test_a.py", FAILS, "unit")
    assert "load average" not in project.run("tests").stdout
    assert not (tmp_path / ".evidence").exists()


@pytest.mark.parametrize(
    ("samples_ms", "is_late"),
    [
        ([LAG_LIMIT_MS] * 10, False),
        ([LAG_LIMIT_MS + 1] * 2, True),
        ([LATE_LIMIT_MS], False),
        ([LATE_LIMIT_MS + 1], True),
    ],
)
def test_what_is_late(samples_ms: list[float], is_late: bool) -> None:
    """More than the limit in all, of the samples above the limit of one."""
    lag = Lag()
    for each in samples_ms:
        lag.add(each)
    assert lag.is_late == is_late
    assert lag.worst_ms == max(samples_ms)


class BlockedMeter(LagMeter):
    """The process stands still while it reads its servers, once."""

    is_blocked = False

    def _read_servers(self) -> None:
        if not self.is_blocked:
            self.is_blocked = True
            stand_still()


def stand_still() -> None:
    """Keep the GIL, so that no other thread runs."""
    ctypes.PyDLL(None).usleep(400_000)  # being late is the subject


async def test_a_process_that_stands_still_is_late() -> None:
    """Also before the thread that measures has run, and while it reads."""
    meter = LagMeter()
    meter.begin()
    stand_still()
    assert "test process" in meter.late()
    meter.stop()
    reading = BlockedMeter()
    reading.begin()
    await until(lambda: reading.lags.get(PROCESS, Lag()).late_ms > 0, what="the lag")
    reading.stop()
