"""One program, started with its output in a log file and stopped by its process id.

`Process.start(argv, log=path)` starts a program that ends with its parent. With `bound=False` it
outlives its parent, and `Process.load(pid_file)` finds it again after `save(pid_file)`.
"""

import asyncio
import inspect
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

MAX_WAIT_S = 30.0  # longer than any step on a busy machine, whose first text takes 10 s


async def until(
    condition: Callable[[], bool | Awaitable[bool]],
    *,
    timeout_s: float = MAX_WAIT_S,
    every_s: float = 0.02,
    what: str | Callable[[], str] = "the condition",
) -> None:
    """Return once the condition holds; raises TimeoutError, naming `what`, after the timeout."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        holds = condition()
        if await holds if inspect.isawaitable(holds) else holds:
            return
        if time.monotonic() >= deadline_s:
            name = what() if callable(what) else what
            raise TimeoutError(f"waited {timeout_s} s for {name}")
        await asyncio.sleep(every_s)


# If the parent died before the signal was set, the shell sees another parent and exits.
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
    """A running program: process id and start time, so that a reused id is not mistaken for it."""

    def __init__(
        self, pid: int, started_ticks: int, child: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.pid = pid
        self._started_ticks = started_ticks
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
        """Start a program in its own session; `bound` kills it when this process ends."""
        prefix = [*_BOUND_PREFIX, str(os.getpid())] if bound else []
        with log.open("ab") as out:
            child = subprocess.Popen(
                [*prefix, *argv],
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
        """Return the program of a file that `save` wrote, or None if it has ended."""
        try:
            pid, started_ticks = map(int, path.read_text().split())
        except (FileNotFoundError, ValueError):  # a full disk leaves an empty file
            return None
        process = cls(pid, started_ticks)
        return process if process.alive() else None

    def save(self, path: Path) -> None:
        """Write the file that `load` reads."""
        path.write_text(f"{self.pid} {self._started_ticks}\n")

    def alive(self) -> bool:
        """Return whether it still runs; an ended child is reaped."""
        if self._child is not None:
            return self._child.poll() is None
        try:
            state, started_ticks = _stat(self.pid)
        except (FileNotFoundError, ProcessLookupError):
            return False
        return started_ticks == self._started_ticks and state != "Z"

    async def stop(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Send SIGTERM, and SIGKILL after the timeout."""
        self._signal(signal.SIGTERM)
        try:
            await until(lambda: not self.alive(), timeout_s=timeout_s, what=f"{self.pid} to end")
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """Send SIGKILL and wait for the end."""
        self._signal(signal.SIGKILL)
        await until(lambda: not self.alive(), what=f"{self.pid} to end")

    def _signal(self, number: signal.Signals) -> None:
        if self.alive():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(self.pid, number)


def _stat(pid: int) -> tuple[str, int]:
    """Return the state and the start time from /proc/<pid>/stat (fields 3 and 22 in proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[19])
