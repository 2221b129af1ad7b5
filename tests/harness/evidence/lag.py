"""Measures every 50 ms how late the test process, its event loop and its servers are.

A thread that sleeps wakes up late if the process waits for a core; a callback in the test's event
loop runs late if the loop is blocked, too. How long a server waited for a core is in the kernel's
`schedstat` of its first thread, which is that of its event loop.
"""

import asyncio
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

INTERVAL_S = 0.05
REFRESH_S = 0.5  # the servers are looked for again
LAG_LIMIT_MS = 100
LATE_LIMIT_MS = 200  # in all: a test that fails above both limits runs once more
PROCESS, LOOP = "test process", "event loop of the test"
PROC = Path("/proc")


class Lag(Struct):
    """Samples of one process: the longest, and the sum of those above the limit."""

    worst_ms: float = 0
    late_ms: float = 0

    def add(self, sample_ms: float) -> None:
        """Add a sample."""
        self.worst_ms = max(self.worst_ms, sample_ms)
        if sample_ms > LAG_LIMIT_MS:
            self.late_ms += sample_ms

    @property
    def is_late(self) -> bool:
        """Return whether a failure may be due to it."""
        return self.late_ms > LATE_LIMIT_MS


class _Server(Struct):
    """A child process, and how long it had waited for a core."""

    name: str
    waited_ms: float


class LagMeter:
    """Measures between `begin` and `stop`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lags: dict[str, Lag] = {}
        self._servers: dict[int, _Server] = {}
        self._probed_s = 0.0  # when the loop got a callback; 0: it has run
        self._slept_s = 0.0  # when the thread last woke up, or a test has begun
        self._thread = threading.Thread(target=self._measure, name="lag", daemon=True)
        self._is_stopped = threading.Event()

    def begin(self) -> None:
        """Forget what was measured; the first time, start to measure."""
        self._lags = {}
        self._slept_s = time.monotonic()
        if self._thread.ident is None:
            self._thread.start()

    def stop(self) -> None:
        """Measure no more."""
        self._is_stopped.set()

    @property
    def lags(self) -> Mapping[str, Lag]:
        """Return what was measured since the beginning, by process."""
        return dict(self._lags)

    def late(self) -> str:
        """Return in words what was late; empty if nothing was above the limits.

        What is late now counts, too: whoever asks may have kept the thread waiting.
        """
        now_s = time.monotonic()
        waiting = {PROCESS: now_s - self._slept_s - INTERVAL_S}
        if self._probed_s:
            waiting[LOOP] = now_s - self._probed_s
        lags = {name: Lag(each.worst_ms, each.late_ms) for name, each in self.lags.items()}
        for name, sample_s in waiting.items():
            lags.setdefault(name, Lag()).add(sample_s * 1000)
        return ", ".join(
            f"{name} {lag.late_ms:.0f} ms late" for name, lag in lags.items() if lag.is_late
        )

    @contextmanager
    def measuring_loop(self) -> Iterator[None]:
        """Measure the running event loop, too, until the end; its last callback may never run."""
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._loop = None
            self._probed_s = 0

    def _measure(self) -> None:
        refreshed_s = 0.0
        while not self._is_stopped.wait(INTERVAL_S):
            now_s = time.monotonic()
            self._add(PROCESS, now_s - self._slept_s - INTERVAL_S)
            # What the thread reads takes milliseconds, unless the process is late just then. A test
            # may have begun meanwhile.
            self._slept_s = max(self._slept_s, now_s)
            self._probe_loop(now_s)
            if now_s - refreshed_s > REFRESH_S:
                refreshed_s = now_s
                self._find_servers()
            self._read_servers()

    def _add(self, name: str, sample_s: float) -> None:
        self._lags.setdefault(name, Lag()).add(sample_s * 1000)

    def _probe_loop(self, now_s: float) -> None:
        loop = self._loop
        if loop is None or self._probed_s:
            return
        self._probed_s = now_s
        with suppress(RuntimeError):  # it was closed meanwhile
            loop.call_soon_threadsafe(self._respond)
            return
        self._probed_s = 0

    def _respond(self) -> None:
        if self._probed_s:
            self._add(LOOP, time.monotonic() - self._probed_s)
            self._probed_s = 0

    def _find_servers(self) -> None:
        found = _children(os.getpid())
        known = {pid: each for pid, each in self._servers.items() if pid in found}
        for pid in found - known.keys():
            with suppress(OSError):
                known[pid] = _Server(_name(pid), _waited_ms(pid))
        self._servers = known

    def _read_servers(self) -> None:
        for pid, server in self._servers.items():
            with suppress(OSError):  # it has ended
                waited_ms = _waited_ms(pid)
                lag = self._lags.setdefault(f"{server.name} ({pid})", Lag())
                lag.add(waited_ms - server.waited_ms)
                server.waited_ms = waited_ms


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for task in (PROC / str(pid) / "task").iterdir():
        with suppress(OSError):
            found |= {int(each) for each in (task / "children").read_text().split()}
    return found


def _waited_ms(pid: int) -> float:
    """Return how long the first thread has waited for a core (proc(5), schedstat)."""
    return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e6


def _name(pid: int) -> str:
    """Return the program, and the folder that it runs in, which names the server."""
    program = (PROC / str(pid) / "comm").read_text().strip()
    return f"{program} in {(PROC / str(pid) / 'cwd').readlink().name}"
