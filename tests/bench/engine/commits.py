"""What commits cost the engine: its CPU per call over Valkey, beside that over its memory twin."""

from tests.bench.cpu import Meter, idle_shares
from tests.bench.engine.simulated import EngineInMemory, Simulated, simulated
from tests.bench.engine.simulated_call import Script
from tests.bench.engine.simulated_calls import Load
from tests.bench.figure import Figure, figure
from tests.bench.setting import Setting

LOW_RATE = 50  # calls a second, as of `ivr50`: commits seldom go together
HIGH_RATE = 500  # half of what the engine carries or less: those of a tick of the loop do
STANDARD = (Script(),)
MIN_WHOLE_SHARE = 0.99  # of the calls were whole


async def commits(setting: Setting) -> list[Figure]:
    """Run the same calls on both, one after the other."""
    seconds = 10 if setting.quick else 40
    async with simulated(setting.folder / "valkey") as running:
        stored = [await _engine_cpu_ms(running, seconds, rate) for rate in (LOW_RATE, HIGH_RATE)]
    async with simulated(setting.folder / "memory", EngineInMemory) as running:
        kept = [await _engine_cpu_ms(running, seconds, rate) for rate in (LOW_RATE, HIGH_RATE)]
    few, many = (100 * (one - other) / one for one, other in zip(stored, kept, strict=True))
    return [
        figure("commits", "engine_cpu", stored[0], "ms/call", kept[0]),
        figure("commits", "share_of_engine_cpu", few, "%"),
        figure("commits", "engine_cpu_at_500", stored[1], "ms/call", kept[1]),
        figure("commits", "share_of_engine_cpu_at_500", many, "%"),
    ]


async def _engine_cpu_ms(running: Simulated, seconds: float, rate: int) -> float:
    """Give the engine's CPU per call; raises RuntimeError when calls went wrong."""
    pids = {"engine": running.engine.pid}
    await running.pbx.run(Load(STANDARD, seconds=4, rate=rate))
    idle = await idle_shares(pids, 4)
    meter = Meter(pids, idle)
    result = await running.pbx.run(Load(STANDARD, seconds=seconds, rate=rate))
    if result.whole < result.calls * MIN_WHOLE_SHARE:
        raise RuntimeError(f"{result.calls - result.whole} of {result.calls} calls were not whole")
    return meter.used_s()["engine"] * 1000 / result.calls
