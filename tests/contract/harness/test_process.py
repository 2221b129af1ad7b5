"""Programs that tests start: they are found again, stopped, and never left behind."""

import signal
import subprocess
import sys
from pathlib import Path

from dev.servers.process import Process
from tests.harness.until import until

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-uc",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(60)",
]
PARENT = """
import sys, time
from pathlib import Path
from dev.servers.process import Process
process = Process.start(["sleep", "60"], log=Path(sys.argv[1]), bound=sys.argv[3] == "bound")
process.save(Path(sys.argv[2]))
print("up", flush=True)
time.sleep(60)
"""


async def test_stops_on_request(tmp_path: Path) -> None:
    """SIGTERM ends the program, which is then reaped."""
    process = Process.start(SLEEPER, log=tmp_path / "log")
    assert process.alive()
    await process.stop()
    assert not process.alive()


async def test_kills_what_does_not_stop(tmp_path: Path) -> None:
    """A program that ignores SIGTERM is killed after the timeout."""
    process = Process.start(STUBBORN, log=tmp_path / "log")
    await until(lambda: "up" in (tmp_path / "log").read_text(), what="the program")
    await process.stop(timeout_s=0.1)
    assert not process.alive()


async def test_is_found_again_by_its_file(tmp_path: Path) -> None:
    """Another process finds a running program by the file; an ended one is not found."""
    process = Process.start(SLEEPER, log=tmp_path / "log")
    process.save(tmp_path / "pid")
    assert Process.load(tmp_path / "pid") is not None
    await process.kill()
    assert Process.load(tmp_path / "pid") is None


async def test_a_bound_program_dies_with_its_parent(tmp_path: Path) -> None:
    """When the tests are killed, the programs that they started die with them."""
    kill_a_parent(tmp_path, "bound")
    await until(lambda: Process.load(tmp_path / "pid") is None, what="the child to die")


async def test_an_unbound_program_outlives_its_parent(tmp_path: Path) -> None:
    """A program like those of `make up` continues after its parent has ended."""
    kill_a_parent(tmp_path, "unbound")
    process = Process.load(tmp_path / "pid")
    assert process is not None
    await process.kill()


def kill_a_parent(folder: Path, kind: str) -> None:
    """Let another process start a program, then kill that process."""
    files = (str(folder / "log"), str(folder / "pid"))
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *files, kind], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        parent.send_signal(signal.SIGKILL)
