"""How hard a PBX breathes: how long it takes to answer, of late.

New work is refused before live calls feel it. Both sides show in the same figure: an Asterisk that
is slow to answer, and an engine that is slow to hear it.
"""

from collections.abc import Callable

from engine.ari.request import Done, Reply, Request
from engine.observe.metrics import Meter
from engine.runtime.base.ports import Pbx

WEIGHT = 0.05  # of the newest answer: about the last twenty count
HALF_LIFE_S = 1.0  # without an answer the figure halves in this time: a quiet PBX has recovered
_DONE = range(200, 400)


class LatencyAverage:
    """A level in milliseconds that follows what answers take; `monotonic` gives seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.monotonic = monotonic
        self._level_ms = 0.0
        self._noted_s = monotonic()

    @property
    def level_ms(self) -> float:
        """Give the time an answer takes of late, in milliseconds."""
        quiet_s = self.monotonic() - self._noted_s
        return self._level_ms * float(0.5 ** (quiet_s / HALF_LIFE_S))

    def note(self, took_s: float, now_s: float) -> None:
        """Take one answer's time in."""
        self._level_ms += WEIGHT * (took_s * 1000 - self._level_ms)
        self._noted_s = now_s


class TimedPbx:
    """A PBX whose answers to one slot's calls are timed; those that may block say nothing of it."""

    def __init__(
        self, pbx: Pbx, strain: LatencyAverage, meter: Meter, node: str, slot: int
    ) -> None:
        self._pbx = pbx
        self._strain = strain
        self._quick = meter.nodes.asked.of(node, slot, "websocket")
        self._slow = meter.nodes.asked.of(node, slot, "http")
        self._faults = meter.nodes.faults.of(node, slot)

    def send(self, request: Request, key: str, may_block: bool, done: Done) -> None:
        """Send a request on, and time its answer."""
        strain = self._strain
        sent_s = strain.monotonic()

        def timed(reply: Reply) -> None:
            now_s = strain.monotonic()
            if may_block:
                self._slow.observe(now_s - sent_s)
            else:
                self._quick.observe(now_s - sent_s)
                strain.note(now_s - sent_s, now_s)
            if reply.status not in _DONE:
                self._faults[str(reply.status or "lost")] += 1
            done(reply)

        self._pbx.send(request, key, may_block, timed)

    async def ask(self, request: Request) -> Reply:
        """Ask, off every call's path."""
        return await self._pbx.ask(request)
