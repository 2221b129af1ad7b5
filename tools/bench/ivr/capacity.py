"""The highest rate of standard calls without a failure on this machine, and overload.

Dialplan, bare application and engine climb in turn, so that they meet the same machine.
"""

from collections.abc import Mapping

from tests.harness.until import until
from tools.bench.figure import Figure, figure
from tools.bench.ivr.anchored import Anchored, anchored
from tools.bench.ivr.climb import Climb
from tools.bench.ivr.load import load
from tools.bench.ivr.measurement import Pace, Round, fill_caches, measure_round
from tools.bench.ivr.rounds import cpu_of, digit_wait
from tools.bench.ivr.stack import BY_ENGINE, Stack, stack
from tools.bench.ivr.variants import BARE, DIALPLAN, ENGINE, VARIANTS, Variant
from tools.bench.setting import Setting

FIRST_RATE, LAST_RATE = 40, 300
MAX_CALLS_PER_S = 100  # calls/s that the engine admits in the overload round
OVERLOAD_RATE = 250
EMPTY_WITHIN_S = 120  # Asterisk ends calls whose phones have vanished after 45 s without RTP
Climbs = Mapping[str, Climb]
Measured = dict[tuple[str, int], Round]  # by variant and rate


async def capacity(setting: Setting) -> list[Figure]:
    """Raise the rate of each variant until calls fail, then offer more than the engine admits."""
    async with anchored(setting, with_records=False) as servers:
        climbs, measured = await _climb(servers, setting)
    limit = {"SWITCHROOM_MAX_CALLS_PER_S": str(MAX_CALLS_PER_S)}
    async with stack(setting.folder / "beyond", limit) as running:
        beyond = await _overload(running, setting)
    return [*_highest(climbs), *_at_common_rate(measured), *beyond]


async def _climb(servers: Anchored, setting: Setting) -> tuple[Climbs, Measured]:
    seconds = 5 if setting.quick else 12
    climbs = {each.name: Climb(FIRST_RATE, LAST_RATE) for each in VARIANTS}
    measured: Measured = {}
    while any(each.next_rate for each in climbs.values()):
        for variant in VARIANTS:
            rate = climbs[variant.name].next_rate
            if rate is not None:
                round_ = await _round_at(rate, seconds, servers, variant, setting)
                climbs[variant.name].record(rate, round_.not_served)
                measured[variant.name, rate] = round_
    return climbs, measured


async def _round_at(
    rate: int, seconds: float, servers: Anchored, variant: Variant, setting: Setting
) -> Round:
    round_ = await measure_round(servers, variant, Pace(rate, seconds), setting.folder)
    await until(lambda: _has_no_channels(servers.base), timeout_s=EMPTY_WITHIN_S, every_s=0.5)
    return round_


def _highest(climbs: Climbs) -> list[Figure]:
    anchor = climbs[BARE.name].carried
    return [
        figure("capacity", "highest_rate", climbs[ENGINE.name].carried, "calls/s", anchor),
        figure(
            "capacity", "highest_rate_of_dialplan", climbs[DIALPLAN.name].carried, "calls/s", anchor
        ),
    ]


def _carried(variant: Variant, measured: Measured) -> set[int]:
    return {
        rate
        for (name, rate), round_ in measured.items()
        if name == variant.name and not round_.not_served
    }


def _at_common_rate(measured: Measured) -> list[Figure]:
    """Compare engine and bare application at the highest rate that both were seen to carry."""
    common = _carried(ENGINE, measured) & _carried(BARE, measured)
    if not common:
        return []
    rate = max(common)
    ours, bare = (measured[each.name, rate] for each in (ENGINE, BARE))
    values = {
        "engine_cpu": (cpu_of("engine")(ours), cpu_of("bare")(bare), "ms/call"),
        "asterisk_cpu": (cpu_of("asterisk")(ours), cpu_of("asterisk")(bare), "ms/call"),
        "digit_to_prompt_p50": (digit_wait(50)(ours), digit_wait(50)(bare), "ms"),
        "digit_to_prompt_p99": (digit_wait(99)(ours), digit_wait(99)(bare), "ms"),
    }
    return [
        figure("capacity", "common_rate", rate, "calls/s"),
        *(
            figure("capacity", f"{name}_at_common_rate", value, unit, anchor)
            for name, (value, anchor, unit) in values.items()
        ),
    ]


async def _overload(running: Stack, setting: Setting) -> list[Figure]:
    """Offer too many calls: excess calls get 503, admitted calls are served, nothing is left."""
    await fill_caches(running.pbx.sip_port, BY_ENGINE)
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
    bridges = await running.pbx.cli("bridge show all")
    calls = await running.engine.rpc("GET", "/calls")
    return await _has_no_channels(running) and "switchroom" not in bridges and not calls["calls"]


async def _has_no_channels(running: Stack) -> bool:
    return "0 active channels" in await running.pbx.cli("core show channels count")
