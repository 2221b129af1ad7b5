"""Runs one fault and measures it."""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf

from msgspec import Struct

from tools.chaos.cleanup import find_orphans, hang_up, lost_calls
from tools.chaos.outcome import Limits, Outcome
from tools.chaos.scenario import Scenario, Setting, open_scenario

TIMEOUT_S = 100


class Fault(Struct, frozen=True):
    """A fault and its limits; `uses_proxies` if it cuts a network."""

    inject: Callable[[Scenario], Awaitable[None]]
    limits: Limits
    uses_proxies: bool = False


async def run(name: str, fault: Fault, setting: Setting) -> Outcome:
    """Inject a fault and measure it."""
    async with (
        asyncio.timeout(TIMEOUT_S),
        open_scenario(setting, uses_proxies=fault.uses_proxies) as scenario,
    ):
        notes: tuple[str, ...] = ()
        try:
            await fault.inject(scenario)
        except TimeoutError as error:
            notes = (str(error),)
        return await _measure(name, scenario, notes)


async def _measure(name: str, scenario: Scenario, notes: tuple[str, ...]) -> Outcome:
    executed_ms = inf if scenario.timed_hangup is None else await scenario.timed_hangup
    lost = await lost_calls(scenario) | scenario.control_load.refused.keys()
    control_ms, unowned_ms = (
        scenario.control_load.longest_ms(scenario.since_ms),
        scenario.owners.longest_ms,
    )
    refused = await hang_up(
        scenario, scenario.views.keys() - lost - scenario.expected_to_end - scenario.planned_hangups
    )
    left = await find_orphans(scenario)
    await scenario.event_log.read_new()
    events, arrivals = scenario.event_log.counts(), scenario.arrivals.counts
    return Outcome(
        fault=name,
        live=len(scenario.views),
        lost=len(lost | refused),
        unowned_ms=unowned_ms,
        control_ms=control_ms,
        executed_ms=executed_ms,
        new=arrivals.calls,
        failed=arrivals.failed,
        missing_digits=arrivals.missing_digits,
        duplicated=events.duplicated + arrivals.duplicated,
        missing=events.missing,
        orphans=len(left),
        notes=(*notes, *left[:3]),
    )
