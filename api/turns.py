"""Which engine is asked: all in turn; one that has just failed only when no other answers."""

import time
from collections.abc import Callable, Iterator, Sequence

RESTS_S = 10.0  # one that hangs costs its asker the whole patience: few should pay


class Turns:
    """The engines' addresses, each time from another on; of this process only."""

    def __init__(self, urls: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._urls = [url.rstrip("/") for url in urls]
        self._rested_s = dict.fromkeys(self._urls, 0.0)
        self._clock = clock
        self._turn = 0

    def __iter__(self) -> Iterator[str]:
        """Give all, those that rest last."""
        self._turn += 1
        begin, now_s = self._turn % len(self._urls), self._clock()
        turned = self._urls[begin:] + self._urls[:begin]
        return iter(sorted(turned, key=lambda url: self._rested_s[url] > now_s))

    def failed(self, url: str) -> None:
        """Let one rest that did not answer."""
        self._rested_s[url] = self._clock() + RESTS_S
