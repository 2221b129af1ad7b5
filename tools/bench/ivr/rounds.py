"""Short rounds of several variants in turn, and the medians over them.

A machine becomes slower and faster by the minute: variants that take turns meet the same of it.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import median

from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.measurement import Round
from tools.bench.ivr.variants import BARE, DIALPLAN, ENGINE, VARIANTS, Variant

PERCENTS = (50, 75, 90, 95, 99)
Rounds = Mapping[str, Sequence[Round]]
Value = Callable[[Round], float]


async def take_turns(measure: Callable[[Variant], Awaitable[Round]], cycles: int) -> Rounds:
    """Measure all variants in turn, `cycles` times; returns each one's rounds."""
    rounds: dict[str, list[Round]] = {each.name: [] for each in VARIANTS}
    for _ in range(cycles):
        for variant in VARIANTS:
            rounds[variant.name].append(await measure(variant))
    return rounds


def middle(rounds: Sequence[Round], value: Value) -> float:
    """Return the median over rounds of a value; NaN if no round has it."""
    values = [value(each) for each in rounds]
    known = [each for each in values if not math.isnan(each)]
    return median(known) if known else math.nan


def cpu_of(process: str) -> Value:
    """Return the CPU of a process in milliseconds a call; 0 where it did not run."""
    return lambda round_: round_.cpu_ms.get(process, 0.0)


def digit_wait(percent: int) -> Value:
    """Return a percentile of the waits from the last digit to the next prompt."""
    return lambda round_: percentile(round_.digit_ms, percent)


def answer_wait(percent: int) -> Value:
    """Return a percentile of the waits from the answer to the first prompt."""
    return lambda round_: percentile(round_.answer_ms, percent)


def anchored_figures(bench: str, rounds: Rounds) -> list[Figure]:
    """Return the figures of the engine and the dialplan, each beside the bare application's."""
    return [*_costs(bench, rounds), *_waits(bench, rounds), *_counts(bench, rounds)]


def _costs(bench: str, rounds: Rounds) -> list[Figure]:
    ours, bare, plan = (rounds[each.name] for each in (ENGINE, BARE, DIALPLAN))
    engine_ms, bare_ms = middle(ours, cpu_of("engine")), middle(bare, cpu_of("bare"))
    asterisk = [middle(each, cpu_of("asterisk")) for each in (ours, bare, plan)]
    beside_plan = [each / asterisk[2] for each in asterisk]
    others = [
        figure(bench, f"{name}_cpu", middle(ours, cpu_of(name)), "ms/call")
        for name in ("valkey", "rest")
        if name in ours[0].cpu_ms
    ]
    return [
        figure(bench, "engine_cpu", engine_ms, "ms/call", bare_ms),
        *others,
        figure(bench, "asterisk_cpu", asterisk[0], "ms/call", asterisk[1]),
        figure(bench, "asterisk_cpu_of_dialplan", asterisk[2], "ms/call", asterisk[1]),
        figure(
            bench, "engine_to_asterisk", engine_ms / asterisk[0], "ratio", bare_ms / asterisk[1]
        ),
        figure(bench, "asterisk_to_dialplan", beside_plan[0], "ratio", beside_plan[1]),
    ]


def _waits(bench: str, rounds: Rounds) -> list[Figure]:
    waits = {"digit_to_prompt": digit_wait, "answer_to_prompt": answer_wait}
    figures = []
    for name, wait in waits.items():
        for percent in (50, 99):
            ours, bare, plan = (
                middle(rounds[each.name], wait(percent)) for each in (ENGINE, BARE, DIALPLAN)
            )
            full_name = f"{name}_p{percent}"
            figures.append(figure(bench, full_name, ours, "ms", bare))
            figures.append(figure(bench, f"{full_name}_of_dialplan", plan, "ms", bare))
    return figures


def _counts(bench: str, rounds: Rounds) -> list[Figure]:
    """Add up over the rounds the calls that failed or got 503, and all calls."""
    failed = {name: sum(each.not_served for each in of) for name, of in rounds.items()}
    calls = {name: sum(each.calls for each in of) for name, of in rounds.items()}
    return [
        figure(bench, "failures", failed["engine"], "calls", failed["bare"]),
        figure(bench, "failures_of_dialplan", failed["dialplan"], "calls", failed["bare"]),
        figure(bench, "calls", calls["engine"], "calls", calls["bare"]),
    ]
