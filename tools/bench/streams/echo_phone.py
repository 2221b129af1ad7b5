"""A phone that measures how long its own audio needs to come back.

Each second one packet has a mark that no other one has; the arrival of the packet with the same
audio is that of its echo.
"""

import time

from tools.bench.ivr.rtp import PACKET_MS, SILENCE
from tools.bench.streams.media_phone import MediaPhone, loud_bytes

MARK_EVERY = 50  # packets
MARK_BYTES = 16


class EchoPhone(MediaPhone):
    """One call; `marks` is how many were sent."""

    def __init__(self) -> None:
        super().__init__()
        self.marks = 0
        self._sent_s: dict[bytes, float] = {}

    @property
    def echoes_ms(self) -> list[float]:
        """The round trips of marks that have come back."""
        echoes = [each for each in self.packets if each.payload[:MARK_BYTES] in self._sent_s]
        return [(each.at_s - self._sent_s[each.payload[:MARK_BYTES]]) * 1000 for each in echoes]

    async def speak(self, seconds: float) -> None:
        """Send a packet each 20 ms, some of them with a mark."""
        async for index in self.pace(int(seconds * 1000 / PACKET_MS)):
            payload = SILENCE
            if index % MARK_EVERY == MARK_EVERY - 1:
                mark = loud_bytes(MARK_BYTES)
                payload = mark + SILENCE[MARK_BYTES:]
                self._sent_s[mark] = time.time()
                self.marks += 1
            self.send(payload)
