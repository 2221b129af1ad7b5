"""Engine memory per waiting call, with 10,000 calls in a gather."""

from pathlib import Path

from tests.harness.until import until
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure
from tools.bench.ivr.stack import BY_ENGINE
from tools.bench.setting import Setting

NUMBER = "+15550702"
CALLS = 10_000
RATE = 500
WARM_UP = Load((Script(BY_ENGINE),), seconds=4, rate=200)


async def idle_memory(setting: Setting) -> list[Figure]:
    """Hold calls in a gather; compare resident memory before and after."""
    gather = {"type": "gather", "data": {"timeout": 600_000}}
    held = Load((Script(NUMBER, digits=""),), seconds=CALLS / RATE, rate=RATE, hold=True)
    async with simulated(setting.folder) as running:
        play = {"audioUrl": f"{running.audio}/first.wav"}
        await running.route(NUMBER, {"type": "play", "data": play, "action": gather})
        await running.pbx.run(WARM_UP)
        before = resident_bytes(running.engine.pid)
        result = await running.pbx.run(held)
        await until(lambda: _are_waiting(running, result.calls), timeout_s=20, every_s=0.5)
        after = resident_bytes(running.engine.pid)
    return [
        figure("idle_memory", "resident", (after - before) / result.calls / 1024, "KiB/call"),
        figure("idle_memory", "calls", result.calls, "calls"),
    ]


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process without its children."""
    status = Path(f"/proc/{pid}/status").read_text()
    kib = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kib.split()[1]) * 1024


async def _are_waiting(running: Simulated, calls: int) -> bool:
    listed = await running.engine.rpc("GET", "/calls?account=bench")
    waiting = [call for call in listed["calls"] if call["state"] == "gathering"]
    return len(waiting) == calls
