"""How busy the machine is during a test: load, waiting for cores, time that the host took."""

import os
from pathlib import Path

from msgspec import Struct

PRESSURE, STAT = Path("/proc/pressure/cpu"), Path("/proc/stat")
STEAL = 8  # the field of the first line of /proc/stat, in ticks: proc(5)


class MachineUse(Struct, frozen=True):
    """A moment: load averages, time in which some task waited for a core, stolen time."""

    load: tuple[float, float, float]
    waited_ms: float
    stolen_ms: float

    @classmethod
    def now(cls) -> "MachineUse":
        """Read it; a kernel without pressure stall information has no waiting."""
        stolen = int(STAT.read_text().split("\n", 1)[0].split()[STEAL])
        return cls(os.getloadavg(), _waited_ms(), stolen * 1000 / os.sysconf("SC_CLK_TCK"))

    def since(self, before: "MachineUse") -> str:
        """Say what happened since another moment."""
        loads = [" ".join(f"{each:.1f}" for each in moment.load) for moment in (before, self)]
        return (
            f"load average {loads[0]} -> {loads[1]} on {len(os.sched_getaffinity(0))} cores; "
            f"some task waited for a core during {self.waited_ms - before.waited_ms:.0f} ms; "
            f"the host took {self.stolen_ms - before.stolen_ms:.0f} ms"
        )


def _waited_ms() -> float:
    if not PRESSURE.exists():
        return 0
    some = PRESSURE.read_text().split("\n", 1)[0]
    return int(some.rpartition("total=")[2]) / 1000
