"""Measures one round of load on one variant: CPU of each process, and waiting times."""

import asyncio
import random
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tools.bench.cpu import Meter, idle_shares
from tools.bench.ivr.anchored import Anchored
from tools.bench.ivr.load import Outcome, load
from tools.bench.ivr.phone import CallFailed, Waits, standard_call
from tools.bench.ivr.variants import Variant

WINDOW_S = 2.0
MAX_WINDOWS = 10
SETTLED_SHARE = 0.01
WARM_UP_S = 1.0
MAX_FIRST_CALLS = 5


class Pace(Struct, frozen=True):
    """The offered load: calls per second, for how long, and how many probes beside it."""

    rate: int
    seconds: float
    probes_per_s: float = 5


class Round(Struct, frozen=True):
    """Result of a round; CPU in milliseconds per served call, including the probes' calls.

    A rejected call costs little: it must not lower the cost of those that are served.
    """

    outcome: Outcome
    cpu_ms: Mapping[str, float]
    heard: tuple[Waits, ...]
    faults: tuple[str, ...]

    @property
    def calls(self) -> int:
        """The number of calls, including the probes."""
        return self.outcome.calls + len(self.heard) + len(self.faults)

    @property
    def failed(self) -> int:
        """The number of failed calls, including the probes."""
        return self.outcome.failed + len(self.faults)

    @property
    def not_served(self) -> int:
        """The number of calls that failed or got 503."""
        return self.failed + self.outcome.refused

    @property
    def digit_ms(self) -> list[float]:
        """Each probe's wait from the last digit's end to the next prompt."""
        return [each.digit_to_prompt_ms for each in self.heard]

    @property
    def answer_ms(self) -> list[float]:
        """Each probe's wait from the answer to the first prompt."""
        return [each.answer_to_prompt_ms for each in self.heard]


async def measure_round(servers: Anchored, variant: Variant, pace: Pace, folder: Path) -> Round:
    """Connect a variant and call its number, beside probes."""
    await servers.select(variant)
    await fill_caches(servers.sip_port, variant.number)
    await load(servers.sip_port, variant.number, pace.rate, WARM_UP_S, folder)
    meter = Meter(servers.pids, await _idle_load(servers.pids))
    probing = asyncio.create_task(_probes(servers.sip_port, variant.number, pace))
    outcome = await load(servers.sip_port, variant.number, pace.rate, pace.seconds, folder)
    heard, faults = await probing
    used_s = meter.used_s()
    round_ = Round(outcome, {}, heard, faults)
    served = max(round_.calls - round_.not_served, 1)
    return replace(round_, cpu_ms={name: each * 1000 / served for name, each in used_s.items()})


async def fill_caches(sip_port: int, number: str) -> None:
    """Make calls until one is as it should be: the first may wait until its prompts are fetched."""
    for _ in range(MAX_FIRST_CALLS - 1):
        with suppress(CallFailed):
            await standard_call(sip_port, number)
            return
    await standard_call(sip_port, number)


async def _idle_load(pids: Mapping[str, int]) -> Mapping[str, float]:
    """Return the idle CPU of the processes as shares of a core, once it is stable."""
    before = await idle_shares(pids, WINDOW_S)
    for _ in range(MAX_WINDOWS):
        idle = await idle_shares(pids, WINDOW_S)
        if all(abs(idle[name] - before[name]) <= SETTLED_SHARE for name in idle):
            return {name: (idle[name] + before[name]) / 2 for name in idle}
        before = idle
    return before


async def _probes(
    sip_port: int, number: str, pace: Pace
) -> tuple[tuple[Waits, ...], tuple[str, ...]]:
    """Make the probes' calls; at uneven intervals, so that they do not follow the load's rhythm."""
    calls: list[asyncio.Task[Waits]] = []
    chance = random.Random(1)
    for _ in range(int(pace.seconds * pace.probes_per_s)):
        calls.append(asyncio.create_task(standard_call(sip_port, number)))
        await asyncio.sleep(chance.uniform(0.5, 1.5) / pace.probes_per_s)  # the offered load
    ended = await asyncio.gather(*calls, return_exceptions=True)
    unexpected = [each for each in ended if isinstance(each, BaseException)]
    for each in unexpected:
        if not isinstance(each, CallFailed):
            raise each
    heard = tuple(each for each in ended if isinstance(each, Waits))
    return heard, tuple(str(each) for each in unexpected)
