"""Recognizes the reports of digits that repeat a key: Asterisk reports some keys several times.

It does so if a phone sends a key both as telephone-events (RFC 4733) and as SIP INFO, or its end
more than once, or if a key is so short that it is held back (docs/asterisk.md). A key that is sent
as telephone-events begins once, and only AMI says when. Reports that one beginning explains are
those of one key, if they are of the same digit and closer together than keys can be pressed.
"""

from collections import OrderedDict

from msgspec import Struct

MAX_GAP_MS = 70  # from the key before to one that does not begin: measured 60, people need 80
MAX_LEAD_MS = 40  # of INFO, before the key begins as telephone-events: measured 31
MAX_AMI_DELAY_MS = 20  # of the time of a beginning behind that of an end over ARI
EMULATED_MS = 1_000  # Asterisk emulates a key in INFO for no longer than that, usually 250 ms
MAX_HELD_MS = 10_000  # more means that the PBX's clock was set
MAX_OPEN = 4  # beginnings without an end: that of an outage is not delivered
MAX_LEGS = 10_000


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
