"""Lets the messages of many streams wait for each other, so that a turn of the loop has many.

Most of what a message costs is that the kernel wakes the process for it. Network cards spare that
with interrupts in the same way (docs/decisions/0085).
"""

import asyncio
import time
from collections.abc import Callable, Sized

WAIT_S = 0.001
MIN_STREAMS = 50  # fewer have too few messages in that time
CHECK_S = 1.0


class Batching:
    """Delays the loop while there are many streams; `sleep` blocks it."""

    def __init__(
        self,
        streams: Sized,
        sleep: Callable[[float], None] = time.sleep,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._streams = streams
        self._sleep = sleep
        self._now_s = now_s
        self._turned_s = 0.0

    async def run(self) -> None:
        """Wait before each turn of the loop, until cancelled."""
        while True:
            is_waiting = self.wait()
            await asyncio.sleep(0 if is_waiting else CHECK_S)

    def wait(self) -> bool:
        """Wait for messages if it pays; return whether there are enough streams for that.

        After a longer turn there is no need: enough has arrived meanwhile.
        """
        if len(self._streams) < MIN_STREAMS:
            return False
        if self._now_s() - self._turned_s < WAIT_S:
            self._sleep(WAIT_S)
        self._turned_s = self._now_s()
        return True
