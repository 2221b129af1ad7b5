"""What commits cost the engine: its CPU per call over Valkey, beside that over its memory twin."""

from tests.bench.cpu import Meter, idle_shares
from tests.bench.figure import Figure, figure
from tests.bench.setting import Setting
from tests.bench.simulated import EngineInMemory, Simulated, simulated
from tests.bench.simulated_call import Script
from tests.bench.simulated_calls import Load

RATE = 50  # as of `ivr50`: commits seldom go together
STANDARD = (Script(),)
WELL = 0.99  # of the calls were whole


async def commits(setting: Setting) -> list[Figure]:
    """Run the same calls on both, one after the other."""
    seconds = 10 if setting.quick else 40
    async with simulated(setting.folder / "valkey") as running:
        stored_ms = await _spent_ms(running, seconds)
    async with simulated(setting.folder / "memory", EngineInMemory) as running:
        kept_ms = await _spent_ms(running, seconds)
    share = 100 * (stored_ms - kept_ms) / stored_ms
    return [
        figure("commits", "engine_cpu", stored_ms, "ms/call", kept_ms),
        figure("commits", "share_of_engine_cpu", share, "%"),
    ]


async def _spent_ms(running: Simulated, seconds: float) -> float:
    """Give the engine's CPU per call; raises RuntimeError when calls went wrong."""
    pids = {"engine": running.engine.pid}
    await running.pbx.run(Load(STANDARD, seconds=4, rate=RATE))
    idle = await idle_shares(pids, 4)
    meter = Meter(pids, idle)
    result = await running.pbx.run(Load(STANDARD, seconds=seconds, rate=RATE))
    if result.whole < result.calls * WELL:
        raise RuntimeError(f"{result.calls - result.whole} of {result.calls} calls were not whole")
    return meter.used_s()["engine"] * 1000 / result.calls
