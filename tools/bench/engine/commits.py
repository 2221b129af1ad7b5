"""CPU cost of commits: the engine per call over Valkey, compared with the in-memory store."""

from tools.bench.cpu import Meter, idle_shares
from tools.bench.engine.simulated import EngineInMemory, Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

LOW_RATE = 50  # calls/s, as in `ivr50`: commits are seldom grouped
HIGH_RATE = 500  # calls/s, at most half of the capacity: commits are grouped
STANDARD = (Script(),)
MIN_WHOLE_SHARE = 0.99  # of the calls must be whole


async def commits(setting: Setting) -> list[Figure]:
    """Run the same calls over both stores."""
    seconds = 10 if setting.quick else 40
    async with simulated(setting.folder / "valkey") as running:
        over_valkey = [
            await _engine_cpu_ms(running, seconds, rate) for rate in (LOW_RATE, HIGH_RATE)
        ]
    async with simulated(setting.folder / "memory", EngineInMemory) as running:
        in_memory = [await _engine_cpu_ms(running, seconds, rate) for rate in (LOW_RATE, HIGH_RATE)]
    few, many = (
        100 * (one - other) / one for one, other in zip(over_valkey, in_memory, strict=True)
    )
    return [
        figure("commits", "engine_cpu", over_valkey[0], "ms/call", in_memory[0]),
        figure("commits", "share_of_engine_cpu", few, "%"),
        figure("commits", "engine_cpu_at_500", over_valkey[1], "ms/call", in_memory[1]),
        figure("commits", "share_of_engine_cpu_at_500", many, "%"),
    ]


async def _engine_cpu_ms(running: Simulated, seconds: float, rate: int) -> float:
    """Return the engine's CPU per call; raises RuntimeError if calls were not whole."""
    pids = {"engine": running.engine.pid}
    await running.pbx.run(Load(STANDARD, seconds=4, rate=rate))
    idle = await idle_shares(pids, 4)
    meter = Meter(pids, idle)
    result = await running.pbx.run(Load(STANDARD, seconds=seconds, rate=rate))
    if result.whole < result.calls * MIN_WHOLE_SHARE:
        raise RuntimeError(f"{result.calls - result.whole} of {result.calls} calls were not whole")
    return meter.used_s()["engine"] * 1000 / result.calls
