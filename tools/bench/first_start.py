"""What the first start of a lab costs: `python -m tools.bench.first_start`, as root on Debian.

Two new environments get the wheel: one with all extras, by pip alone, which is the anchor; in the
other `switchroom dev` starts for the first time, with an empty cache. Processor time depends less
on what else the machine does than seconds do.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from dev.setup.disk import used_bytes
from dev.setup.python_packages import EXTRAS

ROOT = Path(__file__).parents[2]
PORT_BASE = "8600"


class Cost(Struct, frozen=True):
    """Seconds, and those of processors, of a program with all that it starts and waits for."""

    seconds: float
    cpu_s: float


def measure(argv: Sequence[str | Path], folder: Path) -> Cost:
    """Run a program to its success."""
    environ = {
        **os.environ,
        "SWITCHROOM_CACHE": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
        "SWITCHROOM_PBX": "debian",
    }
    began_s, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, cwd=folder, env=environ, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(time.monotonic() - began_s, cpu_s)


def main(folder: Path) -> None:
    """Measure, and print the rows of docs/performance.md."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, folder], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    for name in ("anchor", "venv"):
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
    pip = "bin/pip"
    anchor = measure([folder / "anchor" / pip, "install", f"{wheel}[{','.join(EXTRAS)}]"], folder)
    installed = measure([folder / "venv" / pip, "install", wheel], folder)
    lab = (folder / "venv/bin/switchroom", "dev")
    try:
        first = measure([*lab, "up", "--port-base", PORT_BASE], folder)
        measure([*lab, "down"], folder)
        second = measure([*lab, "up"], folder)
    finally:
        measure([*lab, "down"], folder)
    costs = {
        "`pip install` of the wheel": installed,
        "first `switchroom dev up`": first,
        "second `switchroom dev up`": second,
    }
    sys.stdout.write(f"pip install of all: {anchor.seconds:.1f} s, {anchor.cpu_s:.1f} s of CPU\n")
    for name, cost in costs.items():
        ratio, cpu_ratio = cost.seconds / anchor.seconds, cost.cpu_s / anchor.cpu_s
        sys.stdout.write(
            f"| {name} | {ratio:.2f} | {cost.seconds:.1f} s, {anchor.seconds:.1f} s"
            f" | {cpu_ratio:.2f} | {cost.cpu_s:.1f} s, {anchor.cpu_s:.1f} s |\n"
        )
    for name in ("venv", "cache", "state"):
        sys.stdout.write(f"{name}: {used_bytes(folder / name) / 1e6:,.0f} MB\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
