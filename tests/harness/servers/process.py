"""One program, started with its output in a log file and ended by its own id, never by a name.

`Process.start(argv, log=path)` starts one that dies with the tests; with `bound=False` it outlives
its parent, and `Process.load(pid_file)` finds it again after `save(pid_file)`.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.harness.until import until

# Whose parent died before the signal was asked for would wait for it in vain.
_BOUND_PREFIX = (
    "setpriv",
    "--pdeathsig",
    "KILL",
    "--",
    "sh",
    "-c",
    '[ "$PPID" = "$0" ] && exec "$@"',
)


class Process:
    """A running program: its id, and when it began, so that a re-used id is not taken for it."""

    def __init__(
        self, pid: int, began_ticks: int, child: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.pid = pid
        self._started_ticks = began_ticks
        self._child = child

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        bound: bool = True,
    ) -> Self:
        """Start a program in a session of its own; `bound` ends it when this process ends."""
        tie = [*_BOUND_PREFIX, str(os.getpid())] if bound else []
        with log.open("ab") as out:
            child = subprocess.Popen(
                [*tie, *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=None if env is None else {**os.environ, **env},
                cwd=cwd,
                start_new_session=True,
            )
        return cls(child.pid, _stat(child.pid)[1], child)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Find a program again by the file that `save` wrote; None if it has ended."""
        try:
            pid, began_ticks = path.read_text().split()
        except FileNotFoundError:
            return None
        process = cls(int(pid), int(began_ticks))
        return process if process.alive() else None

    def save(self, path: Path) -> None:
        """Write what `load` needs."""
        path.write_text(f"{self.pid} {self._started_ticks}\n")

    def alive(self) -> bool:
        """Tell whether it still runs; one of our own that has ended is reaped."""
        if self._child is not None:
            return self._child.poll() is None
        try:
            state, began_ticks = _stat(self.pid)
        except FileNotFoundError:
            return False
        return began_ticks == self._started_ticks and state != "Z"

    async def stop(self, timeout_s: float = 15) -> None:
        """Ask it to end (SIGTERM), and kill it if it has not done so in time."""
        self._signal(signal.SIGTERM)
        try:
            await until(lambda: not self.alive(), timeout_s=timeout_s, what=f"{self.pid} to end")
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        self._signal(signal.SIGKILL)
        await until(lambda: not self.alive(), what=f"{self.pid} to end")

    def _signal(self, number: signal.Signals) -> None:
        if self.alive():
            os.kill(self.pid, number)


def _stat(pid: int) -> tuple[str, int]:
    """Return the state and the start time from /proc/<pid>/stat (fields 3 and 22 in proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[19])
