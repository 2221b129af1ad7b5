"""Slots whose events a node does not bring: a while is waited for it, and then it is given up.

Before that it is asked once more. It may be there again, with the next try of its websocket a few
seconds off: whose PBX answers has lost nothing.
"""

import asyncio
from collections.abc import Callable

from engine.ari.generated.operations import bridges
from engine.runtime.base.clock import Clock, Timer
from engine.runtime.base.ports import Pbx

PROBE_TIMEOUT_S = 2.0


class DisconnectGrace:
    """Those of one node, a grace for each slot."""

    def __init__(
        self,
        pbx: Pbx,
        clock: Clock,
        give_up: Callable[[int], None],
        answer_s: float = PROBE_TIMEOUT_S,
    ) -> None:
        self._pbx = pbx
        self._answer_s = answer_s
        self._clock = clock
        self._give_up = give_up
        self._timers: dict[int, Timer] = {}
        self._asking: dict[int, asyncio.Task[None]] = {}

    def begin(self, slot: int, grace_ms: int) -> None:
        """Wait from now on, unless that has begun."""
        if slot in self._timers or slot in self._asking:
            return

        def ask() -> None:
            del self._timers[slot]
            self._asking[slot] = asyncio.get_running_loop().create_task(self._ask(slot, grace_ms))

        self._timers[slot] = self._clock.call_at(self._clock.now_ms() + grace_ms, ask)

    def end(self, slot: int) -> None:
        """Wait no longer: it is heard, or another's."""
        if timer := self._timers.pop(slot, None):
            timer.cancel()
        if asking := self._asking.pop(slot, None):
            asking.cancel()

    async def close(self) -> None:
        """Give nothing up any more."""
        asking = list(self._asking.values())
        for slot in (*self._timers, *self._asking):
            self.end(slot)
        await asyncio.gather(*asking, return_exceptions=True)

    async def _ask(self, slot: int, grace_ms: int) -> None:
        is_there = await self._is_there()
        del self._asking[slot]
        if is_there:
            self.begin(slot, grace_ms)
        else:
            self._give_up(slot)

    async def _is_there(self) -> bool:
        try:
            # One that stands still takes what it is sent.
            async with asyncio.timeout(self._answer_s):
                return (await self._pbx.ask(bridges.list_())).ok
        except TimeoutError:
            return False
