"""Schedules group commits: immediately for urgent changes, else within 20 ms."""

import asyncio
from typing import Protocol

FLUSH_DELAY_S = 0.02


class Flushable(Protocol):
    """A writer that commits together with others."""

    def flush(self) -> None:
        """Commit pending changes now."""


class FlushScheduler:
    """Lets writers commit together, in one write of the connection.

    An urgent change flushes all writers; without one, they flush after `FLUSH_DELAY_S`.
    """

    def __init__(self) -> None:
        self._writers: list[Flushable] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, writer: Flushable) -> None:
        self._writers.append(writer)

    def remove(self, writer: Flushable) -> None:
        self._writers.remove(writer)

    def flush_now(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for writer in self._writers:
            writer.flush()

    def flush_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_DELAY_S, self.flush_now)
