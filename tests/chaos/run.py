"""One fault from its scene to its figures."""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf

from msgspec import Struct

from tests.chaos.cleanup import find_orphans, hang_up, lost_calls
from tests.chaos.outcome import Limits, Outcome
from tests.chaos.scenario import Scenario, Setting, open_scenario

TIMEOUT_S = 100


class Fault(Struct, frozen=True):
    """What is done to a scene, within which limits; `is_cut` where a network must be."""

    inject: Callable[[Scenario], Awaitable[None]]
    limits: Limits
    uses_proxies: bool = False


async def run(name: str, fault: Fault, setting: Setting) -> Outcome:
    """Let a fault happen and measure it."""
    async with (
        asyncio.timeout(TIMEOUT_S),
        open_scenario(setting, is_cut=fault.uses_proxies) as made,
    ):
        notes: tuple[str, ...] = ()
        try:
            await fault.inject(made)
        except TimeoutError as error:
            notes = (str(error),)
        return await _measure(name, made, notes)


async def _measure(name: str, made: Scenario, notes: tuple[str, ...]) -> Outcome:
    felt_ms = inf if made.timed_hangup is None else await made.timed_hangup
    gone = await lost_calls(made) | made.control_load.refused.keys()
    control_ms, unowned_ms = made.control_load.longest_ms(made.since_ms), made.owners.longest_ms
    refused = await hang_up(
        made, made.views.keys() - gone - made.expected_to_end - made.planned_hangups
    )
    left = await find_orphans(made)
    await made.event_log.read_new()
    told, came = made.event_log.counts(), made.arrivals.counts
    return Outcome(
        fault=name,
        live=len(made.views),
        lost=len(gone | refused),
        unowned_ms=unowned_ms,
        control_ms=control_ms,
        executed_ms=felt_ms,
        new=came.calls,
        failed=came.failed,
        missing_digits=came.missing_digits,
        doubled=told.doubled + came.duplicated,
        missing=told.missing,
        orphans=len(left),
        notes=(*notes, *left[:3]),
    )
