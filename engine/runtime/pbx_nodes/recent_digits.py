"""The DTMF digits of the last minute on one node and the keys that are down, as AMI reports them.

AMI reports them whichever engine owns a channel's slot, and even when no engine owns it. An engine
that takes a call over, or that lost its websocket for a while, finds the missing digits here
(decision 0013). What it did not hear itself, it gets from the engine that did (decision 0059).
Digits that repeat a key are left out here and in what ARI delivers, by the same rule.
"""

from collections import OrderedDict
from collections.abc import Iterable

from engine.calls.model.clock_shift import move_times
from engine.calls.model.events import DigitPressed
from engine.calls.recovery.missed_digits import DigitsByLeg, KeysDown
from engine.runtime.base.clock import Clock, Timer
from engine.runtime.pbx_nodes.event_delay import EventDelay
from engine.runtime.pbx_nodes.repeated_keys import RepeatedKeys

RETENTION_MS = 60_000  # by default no outage that calls survive lasts longer
MAX_DIGITS_PER_LEG = 64  # as many as a gather takes
MAX_LEGS = 10_000


class RecentDigits:
    """The recent digits of every channel of one node; implements `DtmfListener`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._event_delay = EventDelay()
        self._legs: OrderedDict[str, list[DigitPressed]] = OrderedDict()  # most recent last
        self._keys_down: OrderedDict[str, int] = OrderedDict()  # most recent last
        self._reported_keys = RepeatedKeys()
        self._delivered_keys = RepeatedKeys()  # over ARI
        self._timer: Timer | None = None
        self._connected_ms: int | None = None

    @property
    def keys_down(self) -> KeysDown:
        """When the key that is down on a leg went down."""
        return self._keys_down

    def on_digit_started(self, channel: str, pbx_ms: int) -> None:
        """Add a key that went down; AMI may never report its release."""
        now = self._clock.now_ms()
        self._reported_keys.begin(channel, pbx_ms)
        self._delivered_keys.begin(channel, pbx_ms)
        self._keys_down[channel] = now - self._event_delay.measure(pbx_ms, now)
        self._keys_down.move_to_end(channel)
        while now - next(iter(self._keys_down.values())) > RETENTION_MS:
            self._keys_down.popitem(last=False)

    @property
    def heard_ms(self) -> int | None:
        """For how long all digits have been reported; None: they are not."""
        return None if self._connected_ms is None else self._clock.now_ms() - self._connected_ms

    @property
    def is_complete(self) -> bool:
        """Whether no digit of the last minute is missing."""
        return (self.heard_ms or 0) >= RETENTION_MS

    def on_connected(self) -> None:
        self._connected_ms = self._clock.now_ms()

    def on_disconnected(self) -> None:
        """Forget the keys that are down: AMI will not report their release."""
        self._connected_ms = None
        self._keys_down.clear()
        self._reported_keys.clear()
        self._delivered_keys.clear()

    def is_repeat(self, pressed: DigitPressed) -> bool:
        """Return whether a digit that ARI delivers repeats the key before."""
        if self._connected_ms is None:
            return False
        digit, held_ms, up_ms = pressed.digit, pressed.held_ms, pressed.pbx_ms
        return self._delivered_keys.is_repeat(pressed.leg, digit, held_ms, up_ms)

    def add_missed(self, digits: Iterable[DigitPressed]) -> None:
        """Add digits that another engine has heard; those that this one has, too, are ignored."""
        for digit in digits:
            known = self._legs.setdefault(digit.leg, [])
            if not any(_is_same(digit, each) for each in known):
                known.append(digit)
                known.sort(key=lambda each: each.pbx_ms)
                del known[:-MAX_DIGITS_PER_LEG]
        self._legs = OrderedDict(sorted(self._legs.items(), key=lambda each: each[1][-1].up_ms))
        self._evict(self._clock.now_ms())
        self._set_timer()

    @property
    def digits(self) -> DigitsByLeg:
        """The digits by leg, in order."""
        return self._legs

    def change_clock(self, by_ms: int) -> None:
        """Move the digits' times after the engine's clock was corrected."""
        self._event_delay.change_clock(by_ms)
        if self._connected_ms is not None:
            self._connected_ms += by_ms
        for digits in self._legs.values():
            digits[:] = [move_times(each, by_ms) for each in digits]
        for leg in self._keys_down:
            self._keys_down[leg] += by_ms

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Add a digit whose key was released just now."""
        now = self._clock.now_ms()
        self._event_delay.measure(pbx_ms, now)
        self._keys_down.pop(channel, None)
        if self._reported_keys.is_repeat(channel, digit, held_ms, pbx_ms):
            return
        digits = self._legs.setdefault(channel, [])
        digits.append(DigitPressed(channel, digit, now - held_ms, held_ms, pbx_ms, missed=True))
        del digits[:-MAX_DIGITS_PER_LEG]
        self._legs.move_to_end(channel)
        self._evict(now)
        self._set_timer()

    def forget(self, channel: str) -> None:
        """Forget the digits of a channel, because they were sensitive and are collected.

        The last key is known until the next one: a late report of it must not go to another gather.
        """
        self._legs.pop(channel, None)

    def _evict(self, now: int) -> None:
        while self._legs:
            leg, digits = next(iter(self._legs.items()))
            if len(self._legs) <= MAX_LEGS and now - digits[-1].up_ms <= RETENTION_MS:
                return
            del self._legs[leg]
            self._reported_keys.forget(leg)
            self._delivered_keys.forget(leg)

    def _set_timer(self) -> None:
        """Evict without another digit, too: digits may be sensitive."""
        if self._timer is None and self._legs:
            oldest = next(iter(self._legs.values()))[-1]
            self._timer = self._clock.call_at(oldest.up_ms + RETENTION_MS + 1, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._evict(self._clock.now_ms())
        self._set_timer()


def _is_same(one: DigitPressed, other: DigitPressed) -> bool:
    """Return whether two engines have heard one digit: AMI sends all of them the same times."""
    return (one.digit, one.held_ms, one.pbx_ms) == (other.digit, other.held_ms, other.pbx_ms)
