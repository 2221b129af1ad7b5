"""Where a new call goes, and whether there is room for it at all."""

from engine.runtime.clock import Clock


class Gate:
    """Lets so many new calls a second through, with a burst of one second's worth."""

    def __init__(self, clock: Clock, per_s: int, most: int) -> None:
        self._clock = clock
        self._per_s = per_s
        self._most = most
        self._room = float(per_s)
        self._at_ms = clock.now_ms()

    def admits(self, live: int) -> bool:
        """Tell whether one more call may begin while `live` are; counts it if so."""
        now = self._clock.now_ms()
        self._room = min(self._per_s, self._room + (now - self._at_ms) * self._per_s / 1000)
        self._at_ms = now
        if live >= self._most or self._room < 1:
            return False
        self._room -= 1
        return True
