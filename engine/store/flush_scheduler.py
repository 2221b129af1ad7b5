"""When what waits is committed: at once when somebody waits for it, else soon, and all together."""

import asyncio
from typing import Protocol

FLUSH_DELAY_S = 0.02


class Flushable(Protocol):
    """What commits together with others."""

    def flush(self) -> None:
        """Have what waits committed now."""


class FlushScheduler:
    """Lets writers commit together: what need not hurry goes with the next that must.

    A change that hurries takes along what waits in all writers, so that it all goes out in one
    write; without one, it goes after `FLUSH_DELAY_S`.
    """

    def __init__(self) -> None:
        self._writers: list[Flushable] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, writer: Flushable) -> None:
        """Take a writer in."""
        self._writers.append(writer)

    def remove(self, writer: Flushable) -> None:
        """Let a writer go, which commits no more."""
        self._writers.remove(writer)

    def flush_now(self) -> None:
        """Have everything committed now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for writer in self._writers:
            writer.flush()

    def flush_soon(self) -> None:
        """Have everything committed soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_DELAY_S, self.flush_now)
