"""Runs one fault of streams and measures it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct, json
from msgspec.structs import replace

from tests.harness.monotonic import now_ms
from tools.bench.figure import percentile
from tools.chaos.streams.leftovers import find_leftovers, hang_up_all
from tools.chaos.streams.logs import unexpected_errors
from tools.chaos.streams.outcome import StreamLimits, StreamOutcome
from tools.chaos.streams.scenario import Scenario, open_scenario

TIMEOUT_S = 180
SETTLE_MS = 4_000  # the last echoes, which a frozen bot delays


class StreamFault(Struct, frozen=True):
    """A fault and its limits; it explains lines of logs with the events `errors`."""

    inject: Callable[[Scenario], Awaitable[None]]
    limits: StreamLimits = StreamLimits()
    errors: tuple[str, ...] = ()
    ends_calls: bool = False


async def run(name: str, fault: StreamFault, folder: Path, calls: int) -> StreamOutcome:
    """Inject a fault and measure it; what each caller noticed is kept in the folder."""
    async with asyncio.timeout(TIMEOUT_S), open_scenario(folder, calls) as scenario:
        await scenario.begin()
        notes: tuple[str, ...] = ()
        try:
            await fault.inject(scenario)
            if not fault.ends_calls:
                await scenario.wait_restored()
        except TimeoutError as error:
            notes = (str(error),)
        outcome = StreamOutcome(fault=name, live=len(scenario.callers.all), notes=notes)
        if not fault.ends_calls:
            outcome = await _judge_callers(scenario, folder, outcome)
        return await _judge_end(scenario, fault, outcome)


async def _judge_callers(scenario: Scenario, folder: Path, outcome: StreamOutcome) -> StreamOutcome:
    callers, until_ms = scenario.callers, now_ms()
    await scenario.wait_ms(SETTLE_MS)
    talkers = [each.notice(scenario.began_ms, until_ms) for each in callers.talkers]
    await callers.speak()
    delay_ms = await callers.measure_delay_ms()
    listeners = callers.notices()
    for kind, notices in (("talkers", talkers), ("listeners", listeners)):
        (folder / f"{kind}.json").write_bytes(json.format(json.encode(notices)))
    return replace(
        outcome,
        dropped=callers.ended,
        missing=sum(len(each.missing_ms) for each in talkers),
        unheard_ms=max(each.unheard_ms for each in talkers),
        silence_ms=percentile([each.silence_ms for each in talkers], 99),
        delay_ms=delay_ms,
        broken_prompts=sum(not each.is_prompt_whole for each in listeners),
        not_understood=sum(not each.is_understood for each in listeners),
    )


async def _judge_end(
    scenario: Scenario, fault: StreamFault, outcome: StreamOutcome
) -> StreamOutcome:
    programs = scenario.programs
    await hang_up_all(programs)
    left = await find_leftovers(programs)
    errors = unexpected_errors(programs.logs, fault.errors)
    notes = (*outcome.notes, *left[:3], *sorted(set(errors))[:3])
    return replace(outcome, left=len(left), errors=len(errors), notes=notes)
