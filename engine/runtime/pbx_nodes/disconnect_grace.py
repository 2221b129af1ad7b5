"""Gives a disconnected node's slots up after a grace period.

Before that the node is probed once more: it may be reachable again a few seconds before the next
attempt of its websocket, and a PBX that answers has lost nothing.
"""

import asyncio
from collections.abc import Callable

from engine.ari.generated.operations import bridges
from engine.runtime.base.clock import Clock, Timer
from engine.runtime.base.interfaces import Pbx

PROBE_TIMEOUT_S = 2.0


class DisconnectGrace:
    """The grace periods of one node's slots."""

    def __init__(
        self,
        pbx: Pbx,
        clock: Clock,
        give_up: Callable[[int], None],
        probe_timeout_s: float = PROBE_TIMEOUT_S,
    ) -> None:
        self._pbx = pbx
        self._probe_timeout_s = probe_timeout_s
        self._clock = clock
        self._give_up = give_up
        self._timers: dict[int, Timer] = {}
        self._probes: dict[int, asyncio.Task[None]] = {}

    def begin(self, slot: int, grace_ms: int) -> None:
        """Start a slot's grace period, unless it is running."""
        if slot in self._timers or slot in self._probes:
            return

        def expire() -> None:
            del self._timers[slot]
            self._probes[slot] = asyncio.get_running_loop().create_task(self._probe(slot, grace_ms))

        self._timers[slot] = self._clock.call_at(self._clock.now_ms() + grace_ms, expire)

    def end(self, slot: int) -> None:
        """End a slot's grace period: the node is connected, or another engine owns the slot."""
        if timer := self._timers.pop(slot, None):
            timer.cancel()
        if probe := self._probes.pop(slot, None):
            probe.cancel()

    async def close(self) -> None:
        probes = list(self._probes.values())
        for slot in (*self._timers, *self._probes):
            self.end(slot)
        await asyncio.gather(*probes, return_exceptions=True)

    async def _probe(self, slot: int, grace_ms: int) -> None:
        is_reachable = await self._is_reachable()
        del self._probes[slot]
        if is_reachable:
            self.begin(slot, grace_ms)
        else:
            self._give_up(slot)

    async def _is_reachable(self) -> bool:
        try:
            # A frozen PBX accepts requests and never answers.
            async with asyncio.timeout(self._probe_timeout_s):
                return (await self._pbx.ask(bridges.list_())).ok
        except TimeoutError:
            return False
