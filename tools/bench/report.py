"""`python -m tools.bench.report`: print the tables of docs/performance.md.

They show the figures of bench-out/bench.json.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tools.bench.figure import Figure, read_figures

OUT = Path(__file__).parents[2] / "bench-out/bench.json"
ANCHORED_HEAD = (
    "what",
    "as users run it: ratio",
    "measured, bare application",
    "without records and callbacks: ratio",
    "measured, bare application",
    "target",
)
OTHER_HEAD = ("what", "measured", "baseline", "ratio", "target", "name")


class Row(Struct, frozen=True):
    """A row of a table: the figure's name without its bench, or with it in the second table."""

    what: str
    name: str
    target: str = ""


ANCHORED = (
    Row("engine's CPU a call", "engine_cpu", "ratio 1.8, without records 1.5"),
    Row("the same, relative to Asterisk's in that run", "engine_to_asterisk", "measured 0.33"),
    Row("Asterisk's CPU a call", "asterisk_cpu"),
    Row("the same, relative to the dialplan's call", "asterisk_to_dialplan", "measured 1.1"),
    Row("Valkey's CPU a call", "valkey_cpu"),
    Row("REST layer's CPU a call", "rest_cpu"),
    Row("last digit to next prompt, p50", "digit_to_prompt_p50", "ratio 1.5"),
    Row("the same, p99", "digit_to_prompt_p99", "ratio 2"),
    Row("answer to first prompt, p50", "answer_to_prompt_p50"),
    Row("the same, p99", "answer_to_prompt_p99"),
    Row("calls", "calls"),
    Row("failed or rejected calls", "failures", "measured 0"),
)
OTHERS = (
    Row("highest rate without a failure", "capacity.highest_rate", "ratio 0.95"),
    Row("the dialplan's", "capacity.highest_rate_of_dialplan"),
    Row("digit to prompt at the common rate, p99", "capacity.digit_to_prompt_p99_at_common_rate"),
    Row("250 calls/s offered, 100 admitted: completed", "capacity.beyond_served_of_250"),
    Row("the same: failed", "capacity.beyond_failures", "0"),
    Row("mute: last audio after the request, p99", "control.mute_p99", "60 ms"),
    Row("unmute: audio again, p99", "control.unmute_p99", "60 ms"),
    Row("transfer completed: both hear each other, p99", "control.transfer_gap_p99", "100 ms"),
    Row("200 transfers and conferences: failed", "sessions.failed", "0"),
    Row("engine alone: calls/s on one core", "engine_alone.calls_per_s", "3,000"),
    Row("engine alone: CPU a call at that rate", "engine_alone.engine_cpu"),
    Row("commits: share of the engine's CPU at 50 calls/s", "commits.share_of_engine_cpu", "15 %"),
    Row("an ended call in Valkey, compressed", "ended_calls.ended_call_bytes", "600 B"),
    Row(
        "ended calls of 144,000 lines, of 100: longest turn of the loop", "long_calls.turn", "50 ms"
    ),
    Row("the same: longest script", "long_calls.script", "50 ms"),
    Row("webhook log: share of the engine's CPU a call", "webhook_log.share_of_call", "3 %"),
    Row("the same: an attempt in Valkey", "webhook_log.attempt_bytes", "1 KB"),
    Row("memory of a waiting call", "idle_memory.resident", "2.5 KiB"),
    Row("6 engines, 12 nodes: CPU of an engine without calls", "scale.idle_cpu", "3 %"),
    Row("the same with its waiting calls", "scale.waiting_cpu"),
    Row("the same: memory of a waiting call", "scale.memory_of_call"),
    Row("the same: websockets of an engine", "scale.websockets"),
    Row("the same: longest stall by a scrape", "scale.metrics_stall_max", "5 ms"),
    Row("timers: lateness, p99", "timers.lateness_p99", "5 ms"),
    Row("last digit to webhook, p99", "digit_webhook.p99", "5 ms"),
    Row("event to callback's first byte, p99", "callbacks.event_to_first_byte_p99", "20 ms"),
    Row("the same beside a target that hangs, p99", "callbacks.beside_one_that_hangs_p99", "20 ms"),
    Row("REST: time added to an originate, p99", "rest.originate_added_p99", "10 ms"),
    Row("REST: control requests a second of its CPU", "rest.control_per_core", "1,500"),
    Row("REST: a call runs a changed route after, p99", "route_change.applied_p99", "300 ms"),
    Row("REST: lists of 100,000 routes, 10,000 flows, p95", "lists.all_p95", "20 ms"),
    Row(
        "console: event to pixel beside 200 live calls and 19 other readers, p95",
        "console.pixel_p95",
        "150 ms",
    ),
    Row("the same in 20 browsers that paint on the same two cores", "console.together_p95"),
    Row("the page of a call with 10,000 steps; a plain list", "console.ladder_10000", "300 ms"),
    Row("CPU of engine and REST layer a call, with ten browsers", "console.cpu_both"),
    Row("ten browsers: CPU of engine and REST layer", "console.cpu_of_readers", "3 % of a core"),
    Row("core: steps a second", "core.steps_per_s"),
    Row("simulator: calls a second on one core", "sim.calls_per_s", "1,500"),
)


def anchored_table(figures: Mapping[str, Figure]) -> list[str]:
    """Return the ratios to the bare application, with and without records and callbacks."""
    rows = [
        (each.what, *_pair(figures.get(f"ivr50.{each.name}")),
         *_pair(figures.get(f"ivr50_engine.{each.name}")), each.target)
        for each in ANCHORED
    ]  # fmt: skip
    return _table(ANCHORED_HEAD, rows)


def other_table(figures: Mapping[str, Figure]) -> list[str]:
    """Return the other figures that were measured."""
    rows = []
    for each in OTHERS:
        found = figures.get(each.name)
        if found is not None:
            measured = f"{number(found.value)} {found.unit}"
            values = (measured, number(found.baseline), number(found.ratio), each.target)
            rows.append((each.what, *values, f"`{each.name}`"))
    return _table(OTHER_HEAD, rows)


def number(value: float | None) -> str:
    """Return three digits of a number, all of a large one; nothing for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _pair(found: Figure | None) -> tuple[str, str]:
    if found is None:
        return "", ""
    values = ", ".join(number(each) for each in (found.value, found.baseline) if each is not None)
    unit = "" if found.unit == "ratio" else f" {found.unit.removesuffix('/call')}"
    return number(found.ratio), values + unit


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def main() -> int:
    """Print both tables."""
    figures = {each.name: each for each in read_figures(OUT)}
    tables = [*anchored_table(figures), "", *other_table(figures)]
    sys.stdout.write("\n".join(tables) + "\n")
    return 0 if figures else 1


if __name__ == "__main__":
    sys.exit(main())
