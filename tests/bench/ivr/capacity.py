"""Standard calls per second on this machine, and the behaviour under overload."""

from tests.bench.figure import Figure, figure, percentile
from tests.bench.ivr.load import load
from tests.bench.ivr.measurement import Round, idle_load, measure_round
from tests.bench.ivr.phone import standard_call
from tests.bench.ivr.stack import BY_DIALPLAN, BY_ENGINE, Stack, stack
from tests.bench.setting import Setting
from tests.harness.until import until

RATES = (100, 120, 140)
MAX_CALLS_PER_S = 100  # calls/s that the engine admits in the overload round
OVERLOAD_RATE = 250
PROBES_PER_S = 4


async def capacity(setting: Setting) -> list[Figure]:
    """Raise the rate on dialplan and engine, then offer more than the engine admits."""
    figures: list[Figure] = []
    seconds = 8 if setting.quick else 20
    async with stack(setting.folder / "within") as running:
        idle = await idle_load(running)
        for rate in RATES:
            rounds = [
                await measure_round(
                    *(running, number, rate, seconds, setting.folder),
                    idle=idle,
                    probes_per_s=PROBES_PER_S,
                )
                for number in (BY_ENGINE, BY_DIALPLAN)
            ]
            figures += _figures_at(rate, *rounds)
    limit = {"SWITCHROOM_MAX_CALLS_PER_S": str(MAX_CALLS_PER_S)}
    async with stack(setting.folder / "beyond", limit) as running:
        return [*figures, *await _overload(running, setting)]


def _figures_at(rate: int, ours: Round, plan: Round) -> list[Figure]:
    asterisk_ms, by_plan_ms = ours.cpu_ms["asterisk"], plan.cpu_ms["asterisk"]
    waits = [
        (percent, percentile(ours.digit_ms, percent), percentile(plan.digit_ms, percent))
        for percent in (50, 99)
    ]
    return [
        figure("capacity", f"failures_at_{rate}", ours.failed, "calls", plan.failed),
        figure("capacity", f"refused_at_{rate}", ours.outcome.refused, "calls"),
        *(
            figure("capacity", f"digit_to_prompt_p{percent}_at_{rate}", our_ms, "ms", plan_ms)
            for percent, our_ms, plan_ms in waits
        ),
        figure("capacity", f"engine_cpu_at_{rate}", ours.cpu_ms["engine"], "ms/call"),
        figure("capacity", f"asterisk_cpu_at_{rate}", asterisk_ms, "ms/call", by_plan_ms),
    ]


async def _overload(running: Stack, setting: Setting) -> list[Figure]:
    """Offer too many calls: excess calls get 503, admitted calls are served, nothing is left."""
    await standard_call(running.pbx.sip_port, BY_ENGINE)
    seconds = 5 if setting.quick else 10
    outcome = await load(running.pbx.sip_port, BY_ENGINE, OVERLOAD_RATE, seconds, setting.folder)
    try:
        await until(lambda: _is_empty(running), timeout_s=20, every_s=0.5)
        left = 0
    except TimeoutError:
        left = 1
    served = outcome.calls - outcome.failed - outcome.refused
    return [
        figure(
            "capacity",
            f"beyond_served_of_{OVERLOAD_RATE}",
            served / seconds,
            "calls/s",
            MAX_CALLS_PER_S,
        ),
        figure("capacity", "beyond_refused", outcome.refused, "calls", outcome.calls),
        figure("capacity", "beyond_failures", outcome.failed, "calls"),
        figure("capacity", "beyond_left_behind", left, "0: none"),
    ]


async def _is_empty(running: Stack) -> bool:
    channels = await running.pbx.cli("core show channels count")
    bridges = await running.pbx.cli("bridge show all")
    calls = await running.engine.rpc("GET", "/calls")
    return "0 active channels" in channels and "switchroom" not in bridges and not calls["calls"]
