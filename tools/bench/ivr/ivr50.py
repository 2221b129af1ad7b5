"""The standard IVR call at 50 calls/s: dialplan, bare application and engine take turns.

`ivr50` runs the engine as users do: with a REST layer that reads its records into SQLite, and with
a callback target. `ivr50_engine` runs the engine without them.
"""

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from tests.harness.until import until
from tools.bench.charts.line_chart import line_chart
from tools.bench.charts.stacked_bars import stacked_bars
from tools.bench.charts.svg import write_chart
from tools.bench.figure import Figure, figure
from tools.bench.ivr.anchored import Anchored, Records, anchored
from tools.bench.ivr.load import load
from tools.bench.ivr.measurement import Pace, Round, measure_round
from tools.bench.ivr.rounds import (
    PERCENTS,
    Rounds,
    anchored_figures,
    cpu_of,
    digit_wait,
    middle,
    take_turns,
)
from tools.bench.ivr.variants import ENGINE, Variant
from tools.bench.profile import profile
from tools.bench.setting import Setting

RATE = 50
EVENTS = 4  # of a standard call: initiated, answered, gathered, completed
DELIVERED_WITHIN_S = 30
PROFILE_S = 10
LABELS = {"dialplan": "dialplan", "bare": "bare application", "engine": "Switchroom"}
PROCESSES = {  # whose CPU a call costs
    "dialplan": ("asterisk",),
    "bare": ("asterisk", "bare"),
    "engine": ("asterisk", "engine", "valkey", "rest"),
}
PARTS = {
    "asterisk": "Asterisk",
    "bare": "bare application",
    "engine": "engine",
    "valkey": "Valkey",
    "rest": "REST layer",
}


async def ivr50(setting: Setting) -> list[Figure]:
    """Measure with the REST layer, its record reader and a callback target."""
    async with anchored(setting, with_records=True) as servers:
        rounds = await _measure(setting, servers)
        missing = await _missing(servers.records) if servers.records else []
    return [*_report("ivr50", rounds, setting), *missing]


async def ivr50_engine(setting: Setting) -> list[Figure]:
    """Measure the engine without REST layer and callbacks."""
    async with anchored(setting, with_records=False) as servers:
        rounds = await _measure(setting, servers)
    return _report("ivr50_engine", rounds, setting)


async def _measure(setting: Setting, servers: Anchored) -> Rounds:
    pace = Pace(RATE, 5) if setting.quick else Pace(RATE, 12)

    async def measure(variant: Variant) -> Round:
        return await measure_round(servers, variant, pace, setting.folder)

    rounds = await take_turns(measure, 3 if setting.quick else 5)
    if setting.profile:
        await _profile(setting, servers)
    return rounds


async def _profile(setting: Setting, servers: Anchored) -> None:
    """Sample the engine under load; a round of its own, because sampling costs CPU."""
    await servers.select(ENGINE)
    out = setting.out / "engine.prof"
    await asyncio.gather(
        load(servers.sip_port, ENGINE.number, RATE, PROFILE_S, setting.folder),
        profile(servers.base.engine.pid, PROFILE_S, out),
    )


async def _missing(records: Records) -> list[Figure]:
    """Compare the records in the database with the callbacks that the customer accepted."""

    async def count() -> tuple[int, int]:
        found = await asyncio.to_thread(_count_records, records.api.folder / "switchroom.db")
        return found, len({each.id for each in records.customer.accepted})

    async def is_complete() -> bool:
        found, events = await count()
        return found * EVENTS == events

    with suppress(TimeoutError):  # what is missing then is reported
        await until(is_complete, timeout_s=DELIVERED_WITHIN_S, every_s=0.5)
    found, events = await count()
    return [
        figure("ivr50", "records", found, "records"),
        figure("ivr50", "callbacks_missing", max(0, found * EVENTS - events), "events"),
        figure("ivr50", "records_missing", max(0, events / EVENTS - found), "records"),
    ]


def _count_records(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM cdrs").fetchone()[0])


def _report(bench: str, rounds: Rounds, setting: Setting) -> list[Figure]:
    """Return the figures, and draw the same medians."""
    for name, chart in CHARTS.items():
        write_chart(setting.out / f"{bench}-{name}.svg", chart(rounds))
    return anchored_figures(bench, rounds)


def _latency_chart(rounds: Rounds) -> str:
    series = {
        LABELS[name]: [middle(of_variant, digit_wait(percent)) for percent in PERCENTS]
        for name, of_variant in rounds.items()
    }
    ticks = [f"p{percent}" for percent in PERCENTS]
    return line_chart("Last digit to next prompt, ms (logarithmic)", ticks, series)


def _cpu_chart(rounds: Rounds) -> str:
    bars = {
        LABELS[name]: {part: middle(of_variant, cpu_of(process)) for process, part in PARTS.items()}
        for name, of_variant in rounds.items()
    }
    return stacked_bars("CPU per call, ms", bars)


CHARTS = {"latency": _latency_chart, "cpu": _cpu_chart}
