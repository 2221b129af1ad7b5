"""What a request costs an event loop: the time of its synchronous steps, for which all others wait.

A program measures it, and says it to the program that it works for in the response's header
`Server-Timing` (https://www.w3.org/TR/server-timing/).
"""

import re
import time
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from functools import partial
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Charge = Callable[[float], None]  # takes seconds
SERVER_TIMING = "Server-Timing"
_CPU = re.compile(r"cpu;dur=([0-9]{1,9}(?:\.[0-9]{1,3})?)", re.ASCII)


def _ignore(_seconds: float) -> None:
    pass


# Adds to the cost of the request that a task works for; of other tasks it is not counted.
CHARGE: ContextVar[Charge] = ContextVar("charge", default=_ignore)


@coroutine
def metered(
    work: Coroutine[Any, Any, T], charge: Charge, now_s: Callable[[], float] = time.thread_time
) -> Generator[Any, Any, T]:
    """Await a coroutine, and charge the time of each of its steps, but not of its waits.

    It is the time of the thread: other threads and processes of a busy machine do not count.
    """
    step = partial(work.send, None)
    while True:
        began_s = now_s()
        try:
            awaited = step()
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            charge(now_s() - began_s)
        try:
            step = partial(work.send, (yield awaited))
        except GeneratorExit:
            work.close()
            raise
        except BaseException as error:  # noqa: BLE001 - also of a cancellation, for the coroutine
            step = partial(work.throw, error)


def to_header(seconds: float) -> str:
    """Return the value of the header for a cost."""
    return f"cpu;dur={seconds * 1_000:.3f}"


def from_header(value: str | None) -> float:
    """Return the cost in seconds that a response's header says; without one 0."""
    found = _CPU.fullmatch(value or "")
    return float(found[1]) / 1_000 if found else 0.0


class TokenBucket:
    """An amount that grows with time up to a burst, and that may be owed once it is spent.

    `rate` says how much it grows in a second, as it is now; `now_s` is never set.
    """

    def __init__(self, burst: float, rate: Callable[[], float], now_s: Callable[[], float]) -> None:
        self._burst = burst
        self._rate = rate
        self._now_s = now_s
        self._balance = burst
        self._at_s = now_s()

    def spend(self, amount: float) -> float:
        """Take an amount, and return what is left; it is below 0 if there was not so much."""
        self._balance = self.balance() - amount
        return self._balance

    def balance(self) -> float:
        """Return what is left now."""
        now_s = self._now_s()
        grown = (now_s - self._at_s) * self._rate()
        self._balance, self._at_s = min(self._burst, self._balance + grown), now_s
        return self._balance

    def wait_s(self) -> float:
        """Return the time until nothing is owed."""
        return max(0.0, -self.balance() / self._rate())

    @property
    def is_full(self) -> bool:
        """Whether nothing was spent lately."""
        return self.balance() >= self._burst
