"""The engine alone: standard calls per second on one core, including the store client."""

import asyncio

from msgspec import Struct

from tools.bench.cpu import Meter, idle_shares
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load, Result
from tools.bench.figure import Figure, figure
from tools.bench.profile import profile
from tools.bench.setting import Setting

RATES = (500, 1_000, 1_500, 2_000, 2_500, 3_000)
STANDARD = (Script(),)
MIN_WHOLE_SHARE = 0.999  # of the calls must be whole


class Climb(Struct, frozen=True):
    """The highest good rate, and the CPU milliseconds per call of each process at that rate."""

    rate: int
    cpu_ms: dict[str, float]


async def engine_alone(setting: Setting) -> list[Figure]:
    """Raise the rate until more than one call in a thousand fails or is refused.

    `calls_per_core` is 1 / CPU per call at the last good rate: the capacity of the engine's core if
    nothing else, such as the simulated PBX, is slower.
    """
    seconds = 2 if setting.quick else 5
    async with simulated(setting.folder) as running:
        await running.pbx.run(Load(STANDARD, seconds=2, rate=50))
        best = await _climb(running, seconds)
        if setting.profile:
            out = setting.out / "engine-alone.prof"
            load = Load(STANDARD, seconds=8, rate=best.rate or RATES[0])
            await asyncio.gather(running.pbx.run(load), profile(running.engine.pid, 8, out))
    return [
        figure("engine_alone", "calls_per_s", best.rate, "calls/s"),
        figure("engine_alone", "calls_per_core", 1000 / best.cpu_ms["engine"], "calls/s"),
        figure("engine_alone", "engine_cpu", best.cpu_ms["engine"], "ms/call"),
        figure("engine_alone", "valkey_cpu", best.cpu_ms["valkey"], "ms/call"),
        figure("engine_alone", "simulated_pbx_cpu", best.cpu_ms["pbx"], "ms/call"),
    ]


async def _climb(running: Simulated, seconds: float) -> Climb:
    idle = await idle_shares(running.pids, 2)
    best = Climb(0, {})
    for rate in RATES:
        meter = Meter(running.pids, idle)
        result = await running.pbx.run(Load(STANDARD, seconds=seconds, rate=rate))
        went_well = result.whole >= result.calls * MIN_WHOLE_SHARE
        if went_well or not best.cpu_ms:
            best = Climb(rate if went_well else 0, _per_call(meter, result))
        if not went_well:
            break
    return best


def _per_call(meter: Meter, result: Result) -> dict[str, float]:
    return {name: used_s * 1000 / result.calls for name, used_s in meter.used_s().items()}
