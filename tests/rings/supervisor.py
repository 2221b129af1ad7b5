"""`supervisor.py FILE COMMAND…`: runs a command, and ends what it leaves behind.

A process whose parent has ended becomes a child of this one, whatever session it is in. Once the
command has ended, the command lines of those that still run are written to FILE, one a line, and
they are killed. SIGTERM kills all of them at once.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
ENDING_S = 5.0  # for processes that the command has stopped, but not waited for
SIGNALLED = 128  # a shell adds it to the number of the signal that has ended a command


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit status."""
    path, *command = arguments
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1) != 0:
        raise OSError("the kernel gives this process no orphans")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(SIGNALLED + number))
    pid = os.posix_spawnp(command[0], command, os.environ)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the command, too
    try:
        status = _wait_for(pid)
        left = _left_behind()
        Path(path).write_text("".join(f"{each}\n" for each in left))
    finally:
        _kill_children()
    return status if status >= 0 else SIGNALLED - status


def _wait_for(pid: int) -> int:
    """Wait for a child, as init does for all: a test must not see a dead orphan as a process."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _left_behind() -> list[str]:
    """Return the command lines of the children that do not end."""
    signal.signal(signal.SIGALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, ENDING_S)
    try:
        while True:
            os.wait()
    except ChildProcessError:  # all have ended
        return []
    except TimeoutError:
        return sorted(_command_line(pid) for pid in _children())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _raise_timeout(_number: int, _frame: object) -> None:
    raise TimeoutError


def _kill_children() -> None:
    """Kill them, and those that they leave."""
    while pids := list(_children()):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _children() -> Iterator[int]:
    own = os.getpid()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, fields = stat.read_text().rpartition(") ")  # a name may contain anything
        except OSError:  # it has ended
            continue
        _, parent, *_ = fields.split(maxsplit=2)
        if int(parent) == own:
            yield int(stat.parent.name)


def _command_line(pid: int) -> str:
    return " ".join(Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")).strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
