"""The live calls of the simulated PBX, and the loads that make them."""

import asyncio
import itertools
from collections.abc import Callable, Sequence

from msgspec import Struct

from tests.harness.until import until
from tools.bench.engine.simulated_call import CallEnd, Script, Send, SimulatedCall

TICK_S = 0.002
TIMEOUT_S = 60
NOT_TAKEN = CallEnd(is_whole=False, silence_ms=0)  # as the dialplan ends calls that no app takes


class Load(Struct, frozen=True):
    """Calls to make: rate and duration, with the scripts in turn.

    With `hold`, the run returns when all have started and leaves them waiting.
    """

    scripts: tuple[Script, ...]
    seconds: float
    rate: float
    hold: bool = False


class Result(Struct, frozen=True):
    """Result of a load.

    `silences`: number and ms from the last prompt to the hangup of the whole calls;
    `webhooks_ms`: from the last digit to the webhook about it.
    """

    calls: int
    whole: int
    silences: tuple[tuple[str, float], ...]
    webhooks_ms: tuple[float, ...] = ()
    answered: tuple[str, ...] = ()  # the channels that the engine answered


class SimulatedCalls:
    """Calls enter the connected apps in turn, as the dialplan spreads them."""

    def __init__(self, node: str) -> None:
        self.live: dict[str, SimulatedCall] = {}
        self._node = node
        self._numbers = itertools.count()

    async def run(self, load: Load, apps: Callable[[], Sequence[tuple[str, Send]]]) -> Result:
        """Make the calls of a load at the connected apps and wait for their ends."""
        loop = asyncio.get_running_loop()
        began_s, ended = loop.time(), list[tuple[str, CallEnd]]()
        started = 0
        while (passed_s := loop.time() - began_s) < load.seconds:
            for _ in range(int(load.rate * passed_s) - started):
                self._start(load.scripts[started % len(load.scripts)], apps(), ended)
                started += 1
            await asyncio.sleep(TICK_S)  # the offered load
        if not load.hold:
            await until(lambda: len(ended) >= started, timeout_s=TIMEOUT_S, what="the last call")
        silences = tuple(
            (number, round(end.silence_ms, 2)) for number, end in ended if end.is_whole
        )
        webhooks = tuple(end.webhook_ms for _, end in ended if end.webhook_ms is not None)
        answered = tuple(end.answered for _, end in ended if end.answered)
        whole = sum(end.is_whole for _, end in ended)
        return Result(started, whole, silences, webhooks, answered)

    def hang_up_all(self) -> None:
        """Hang up all calls as their callers."""
        for call in list(self.live.values()):
            call.hang_up()

    def _start(
        self,
        script: Script,
        apps: Sequence[tuple[str, Send]],
        ended: list[tuple[str, CallEnd]],
    ) -> None:
        if not apps:
            ended.append((script.number, NOT_TAKEN))
            return
        number = next(self._numbers)
        app, send = apps[number % len(apps)]
        channel = f"{self._node}-1795237552.{number}"

        def end(result: CallEnd) -> None:
            del self.live[channel]
            ended.append((script.number, result))

        self.live[channel] = SimulatedCall(app, channel, script, send, end)
        self.live[channel].enter()
