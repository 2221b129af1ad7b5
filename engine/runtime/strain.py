"""How hard a PBX breathes: how long it takes to answer, of late.

New work is refused before live calls feel it. Both sides show in the same figure: an Asterisk that
is slow to answer, and an engine that is slow to hear it.
"""

from engine.ari.request import Done, Reply, Request
from engine.runtime.clock import Clock
from engine.runtime.ports import Pbx

WEIGHT = 0.05  # of the newest answer: about the last twenty count
FORGET_MS = 1_000  # without an answer the figure halves in this time: a quiet PBX has recovered


class Strained:
    """A PBX whose answers are timed."""

    def __init__(self, pbx: Pbx, clock: Clock) -> None:
        self._pbx = pbx
        self._clock = clock
        self._level_ms = 0.0
        self._noted_ms = clock.now_ms()

    @property
    def level_ms(self) -> float:
        """Give the time an answer takes of late, in milliseconds."""
        quiet_ms = self._clock.now_ms() - self._noted_ms
        return self._level_ms * float(0.5 ** (quiet_ms / FORGET_MS))

    def send(self, request: Request, key: str, may_block: bool, done: Done) -> None:
        """Send a request on, and time its answer unless it may block."""
        if may_block:
            self._pbx.send(request, key, may_block, done)
            return
        sent_ms = self._clock.now_ms()

        def timed(reply: Reply) -> None:
            now = self._clock.now_ms()
            self._level_ms += WEIGHT * (now - sent_ms - self._level_ms)
            self._noted_ms = now
            done(reply)

        self._pbx.send(request, key, may_block, timed)

    async def ask(self, request: Request) -> Reply:
        """Ask, off every call's path."""
        return await self._pbx.ask(request)
