"""The keys of the last minute on one node, as its manager interface told them to this engine.

It tells them whoever has a channel's slot, and while nobody has. So who takes a call up, or has
lost its websocket for a while, finds here what the call lacks (decision 0013).
"""

from collections import OrderedDict

from engine.calls.model.events import DigitPressed
from engine.calls.recovery.dtmf import DigitsByLeg
from engine.runtime.base.clock import Clock

RETENTION_MS = 60_000  # no outage that calls outlive lasts longer, by default
MAX_DIGITS_PER_LEG = 64  # of a leg: as many as a gather takes
MAX_LEGS = 10_000


class DtmfLog:
    """Hears one node's keys (`ami.keys.KeyListener`), of any channel: whose it is, is not told."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._legs: OrderedDict[str, list[DigitPressed]] = OrderedDict()  # the latest last

    @property
    def digits(self) -> DigitsByLeg:
        """The keys by leg, in order."""
        return self._legs

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Keep a key that was let go just now."""
        now = self._clock.now_ms()
        keys = self._legs.setdefault(channel, [])
        keys.append(DigitPressed(channel, digit, now - held_ms, held_ms, pbx_ms, missed=True))
        del keys[:-MAX_DIGITS_PER_LEG]
        self._legs.move_to_end(channel)
        self._forget(now)

    def _forget(self, now: int) -> None:
        while True:
            leg, keys = next(iter(self._legs.items()))
            if len(self._legs) <= MAX_LEGS and now - keys[-1].up_ms <= RETENTION_MS:
                return
            del self._legs[leg]
