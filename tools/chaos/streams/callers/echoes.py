"""The sounds that a caller made, and which of them the bot has returned."""

from collections.abc import Iterator
from itertools import groupby
from math import inf

from msgspec import Struct

MARK_EVERY = 5  # packets; those between are silent: what a delay drops first
MARK_MS = MARK_EVERY * 20


class Echo(Struct):
    """When a mark was sent, and when it came back."""

    sent_ms: float
    returned_ms: float | None = None


class EchoLog:
    """The marks of one caller in order."""

    def __init__(self) -> None:
        self._echoes: list[Echo] = []

    def sent(self, at_ms: float) -> Echo:
        """Note a mark that is sent; whoever receives it notes that."""
        echo = Echo(at_ms)
        self._echoes.append(echo)
        return echo

    def has_returned(self, since_ms: float) -> bool:
        """Return whether a mark that was sent after a time has come back."""
        return any(each.returned_ms is not None for each in self._since(since_ms))

    def missing(self, since_ms: float, until_ms: float) -> list[float]:
        """Return when the marks between two times were sent that did not come back."""
        found = self._between(since_ms, until_ms)
        return [each.sent_ms for each in found if each.returned_ms is None]

    def unheard_ms(self, since_ms: float, until_ms: float) -> int:
        """Return for how long the bot heard nothing, or was not heard, without a break."""
        runs = groupby(self._between(since_ms, until_ms), key=lambda each: each.returned_ms is None)
        return max((len(list(run)) * MARK_MS for is_lost, run in runs if is_lost), default=0)

    def delay_ms(self, since_ms: float) -> float:
        """Return the longest round trip of the marks since a time that have come back."""
        known = (
            each.returned_ms - each.sent_ms
            for each in self._since(since_ms)
            if each.returned_ms is not None
        )
        return max(known, default=inf)

    def _since(self, since_ms: float) -> Iterator[Echo]:
        for each in reversed(self._echoes):
            if each.sent_ms < since_ms:
                return
            yield each

    def _between(self, since_ms: float, until_ms: float) -> list[Echo]:
        return [each for each in self._echoes if since_ms <= each.sent_ms <= until_ms]
