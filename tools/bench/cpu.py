"""CPU time of processes and their children from /proc, less their idle consumption."""

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Return user and system seconds of a process and its children, including ended ones."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(int(ticks) for ticks in fields[11:15]) / TICKS_PER_S  # 14 to 17 in proc(5)
    return own + sum(cpu_s(child) for child in _children(pid))


class Meter:
    """CPU seconds of named processes since construction, less idle consumption."""

    def __init__(self, pids: Mapping[str, int], idle: Mapping[str, float] | None = None) -> None:
        self._pids = pids
        self._idle = idle or dict.fromkeys(pids, 0.0)
        self._started_s = time.monotonic()
        self._before = {name: cpu_s(pid) for name, pid in pids.items()}

    def used_s(self) -> dict[str, float]:
        """Return the seconds of each process."""
        elapsed_s = time.monotonic() - self._started_s
        return {
            name: cpu_s(pid) - self._before[name] - self._idle[name] * elapsed_s
            for name, pid in self._pids.items()
        }


async def idle_shares(pids: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Return the share of a core that each idle process consumes."""
    meter = Meter(pids)
    await asyncio.sleep(seconds)  # the period that is measured
    return {name: used / seconds for name, used in meter.used_s().items()}


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread may end meanwhile
            found += [int(child) for child in (task / "children").read_text().split()]
    return found
