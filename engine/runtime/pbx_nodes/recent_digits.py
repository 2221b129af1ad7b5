"""The DTMF digits of the last minute on one node and the keys that are down, as AMI reports them.

AMI reports them whichever engine owns a channel's slot, and even when no engine owns it. An engine
that takes a call over, or that lost its websocket for a while, finds the missing digits here
(decision 0013). What it did not hear itself, it gets from the engine that did (decision 0059).
Digits that repeat a key are left out here and in what ARI delivers, by the same rule.
"""

from collections import OrderedDict
from collections.abc import Iterable
from math import inf

from msgspec import Struct

from engine.calls.model.clock_shift import move_times
from engine.calls.model.events import DigitPressed
from engine.calls.recovery.missed_digits import DigitsByLeg, KeysDown
from engine.runtime.base.clock import Clock, Timer

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


MAX_GAP_MS = 70  # from the key before to one that does not begin: measured 60, people need 80
MAX_LEAD_MS = 40  # of INFO, before the key begins as telephone-events: measured 31
MAX_AMI_DELAY_MS = 20  # of the time of a beginning behind that of an end over ARI
EMULATED_MS = 1_000  # Asterisk emulates a key in INFO for no longer than that, usually 250 ms
MAX_HELD_MS = 10_000  # more means that the PBX's clock was set
MAX_OPEN = 4  # beginnings without an end: that of an outage is not delivered


class _Leg(Struct):
    """The last report of a leg, by the PBX's clock, and when keys began that have not ended."""

    digit: str = ""
    up_ms: int = 0
    has_begun: bool = False
    began_ms: list[int] = []
    longest_ms: int = 0  # the longest key of the last second
    is_emulated: bool = False  # one of them did not begin: the next ones wait for its end


class RepeatedKeys:
    """The last keys of all legs, as one source of digits reports them."""

    def __init__(self) -> None:
        self._legs: OrderedDict[str, _Leg] = OrderedDict()  # most recent last

    def begin(self, leg: str, began_ms: int) -> None:
        """Take the beginning of a key."""
        open_keys = self._leg(leg).began_ms
        open_keys.append(began_ms)
        del open_keys[:-MAX_OPEN]

    def is_repeat(self, leg: str, digit: str, held_ms: int, up_ms: int) -> bool:
        """Take the report of a digit, and return whether it is one more of the key before."""
        last = self._leg(leg)
        if not last.has_begun and last.began_ms and last.began_ms[0] < last.up_ms:
            last.has_begun = True  # reported late
            del last.began_ms[0]
        if up_ms - last.up_ms > EMULATED_MS:
            last.longest_ms, last.is_emulated = 0, False
        last.longest_ms = max(last.longest_ms, held_ms)
        has_begun = bool(last.began_ms) and last.began_ms[0] <= up_ms + MAX_AMI_DELAY_MS
        if has_begun:
            down_ms = last.began_ms.pop(0)
        else:
            down_ms = up_ms - (last.longest_ms if last.is_emulated else held_ms)
            last.is_emulated = True
        gap_ms = down_ms - last.up_ms
        most_ms = MAX_LEAD_MS if has_begun else MAX_GAP_MS
        is_repeat = (
            digit == last.digit
            and has_begun != last.has_begun
            and -MAX_HELD_MS <= gap_ms <= most_ms
        )
        last.digit, last.up_ms = digit, up_ms
        last.has_begun = has_begun or is_repeat
        return is_repeat

    def forget(self, leg: str) -> None:
        """Forget a leg, whose digits may be sensitive."""
        self._legs.pop(leg, None)

    def clear(self) -> None:
        """Forget all legs: beginnings are not reported from now on."""
        self._legs.clear()

    def _leg(self, leg: str) -> _Leg:
        found = self._legs.setdefault(leg, _Leg())
        self._legs.move_to_end(leg)
        if len(self._legs) > MAX_LEGS:
            self._legs.popitem(last=False)
        return found


PERIOD_MS = 30_000  # the lowest age is that of one period, or two
MIN_DELAY_MS = 100  # less is normal
MAX_DELAY_MS = 10_000  # more means that the PBX's clock was set


class EventDelay:
    """The delay of the events of one source."""

    def __init__(self) -> None:
        self._lowest_ms: float = inf
        self._previous_lowest_ms: float = inf
        self._since_ms: float = -inf

    def measure(self, pbx_ms: int, now: int) -> int:
        """Return how late an event is read, 0 if it is about as quick as others."""
        age_ms = now - pbx_ms
        if now - self._since_ms > PERIOD_MS:
            self._previous_lowest_ms, self._lowest_ms = self._lowest_ms, inf
            self._since_ms = now
        self._lowest_ms = min(self._lowest_ms, age_ms)
        delay_ms = age_ms - int(min(self._lowest_ms, self._previous_lowest_ms))
        if delay_ms > MAX_DELAY_MS:
            self._lowest_ms = self._previous_lowest_ms = age_ms
            return 0
        return delay_ms if delay_ms >= MIN_DELAY_MS else 0

    def change_clock(self, by_ms: int) -> None:
        """Move the ages after the engine's clock was corrected."""
        self._lowest_ms += by_ms
        self._previous_lowest_ms += by_ms
        self._since_ms += by_ms
