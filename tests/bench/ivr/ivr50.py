"""The standard IVR call at 50 calls/s: in the dialplan, then in the engine, on one Asterisk."""

import asyncio

from tests.bench.figure import Figure, figure, percentile
from tests.bench.ivr.measurement import Round, idle_load, measure_round
from tests.bench.ivr.stack import BY_DIALPLAN, BY_ENGINE, Stack, stack
from tests.bench.profile import profile
from tests.bench.setting import Setting

RATE = 50


async def ivr50(setting: Setting) -> list[Figure]:
    """Measure CPU per call, failures and waiting times."""
    seconds = 10 if setting.quick else 40
    async with stack(setting.folder) as running:
        idle = await idle_load(running)
        plan = await measure_round(running, BY_DIALPLAN, RATE, seconds, setting.folder, idle=idle)
        sampling = asyncio.create_task(_sample_profile(setting, running, seconds))
        ours = await measure_round(running, BY_ENGINE, RATE, seconds, setting.folder, idle=idle)
        await sampling
    return [*_costs(ours, plan), *_waits(ours, plan)]


async def _sample_profile(setting: Setting, running: Stack, seconds: float) -> None:
    if setting.profile:
        await profile(running.engine.pid, seconds - 2, setting.out / "engine.prof")


def _costs(ours: Round, plan: Round) -> list[Figure]:
    asterisk_ms = ours.cpu_ms["asterisk"]
    engine_ms = ours.cpu_ms["engine"]
    return [
        figure("ivr50", "engine_cpu", engine_ms, "ms/call"),
        figure("ivr50", "engine_cpu_beside_asterisk", engine_ms, "ms/call", asterisk_ms),
        figure("ivr50", "asterisk_cpu", asterisk_ms, "ms/call", plan.cpu_ms["asterisk"]),
        figure("ivr50", "valkey_cpu", ours.cpu_ms["valkey"], "ms/call"),
        figure("ivr50", "failures", ours.failed, "calls", plan.failed),
        figure("ivr50", "calls", ours.outcome.calls, "calls", plan.outcome.calls),
    ]


def _waits(ours: Round, plan: Round) -> list[Figure]:
    waits = {
        "digit_to_prompt": (ours.digit_ms, plan.digit_ms),
        "answer_to_prompt": (ours.answer_ms, plan.answer_ms),
    }
    figures = [figure("ivr50", "probes", len(ours.heard), "calls", len(plan.heard))]
    for name, (our_ms, plan_ms) in waits.items():
        for percent in (50, 99):
            value, baseline = percentile(our_ms, percent), percentile(plan_ms, percent)
            figures.append(figure("ivr50", f"{name}_p{percent}", value, "ms", baseline))
    return figures
