"""Measures one round of load on a number: CPU of each process, and waiting times."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from tests.bench.cpu import Meter, idle_shares
from tests.bench.ivr.load import Outcome, load
from tests.bench.ivr.phone import CallFailed, Waits, standard_call
from tests.bench.ivr.stack import BY_DIALPLAN, BY_ENGINE, Stack

WINDOW_S = 2.0
MAX_WINDOWS = 10
SETTLED_SHARE = 0.01


class Round(Struct, frozen=True):
    """Result of a round; CPU in milliseconds per call, including the probes' calls."""

    outcome: Outcome
    cpu_ms: Mapping[str, float]
    heard: tuple[Waits, ...]
    faults: tuple[str, ...]

    @property
    def failed(self) -> int:
        """The number of failed calls, including the probes."""
        return self.outcome.failed + len(self.faults)

    @property
    def digit_ms(self) -> list[float]:
        """Each probe's wait from the last digit's end to the next prompt."""
        return [each.digit_to_prompt_ms for each in self.heard]

    @property
    def answer_ms(self) -> list[float]:
        """Each probe's wait from the answer to the first prompt."""
        return [each.answer_to_prompt_ms for each in self.heard]


async def measure_round(  # noqa: PLR0913 - the parameters of a round
    stack: Stack,
    number: str,
    rate: int,
    seconds: float,
    folder: Path,
    *,
    idle: Mapping[str, float],
    probes_per_s: float = 2,
) -> Round:
    """Call a number at a rate, beside probes; `idle` is the idle CPU of the processes."""
    await standard_call(stack.pbx.sip_port, number)  # warms the caches
    meter = Meter(stack.pids, idle)
    probing = asyncio.create_task(_probes(stack.pbx.sip_port, number, seconds, probes_per_s))
    outcome = await load(stack.pbx.sip_port, number, rate, seconds, folder)
    heard, faults = await probing
    calls = outcome.calls + len(heard) + len(faults)
    cpu_ms = {name: used * 1000 / calls for name, used in meter.used_s().items()}
    return Round(outcome, cpu_ms, heard, faults)


async def idle_load(stack: Stack) -> Mapping[str, float]:
    """Return the idle CPU of the processes as shares of a core, once it is stable."""
    for number in (BY_DIALPLAN, BY_ENGINE):
        await standard_call(stack.pbx.sip_port, number)
    before = await idle_shares(stack.pids, WINDOW_S)
    for _ in range(MAX_WINDOWS):
        idle = await idle_shares(stack.pids, WINDOW_S)
        if all(abs(idle[name] - before[name]) <= SETTLED_SHARE for name in idle):
            break
        before = idle
    return idle


async def _probes(
    sip_port: int, number: str, seconds: float, per_s: float
) -> tuple[tuple[Waits, ...], tuple[str, ...]]:
    calls: list[asyncio.Task[Waits]] = []
    for _ in range(int(seconds * per_s)):
        calls.append(asyncio.create_task(standard_call(sip_port, number)))
        await asyncio.sleep(1 / per_s)  # the offered load
    ended = await asyncio.gather(*calls, return_exceptions=True)
    unexpected = [each for each in ended if isinstance(each, BaseException)]
    for each in unexpected:
        if not isinstance(each, CallFailed):
            raise each
    heard = tuple(each for each in ended if isinstance(each, Waits))
    return heard, tuple(str(each) for each in unexpected)
