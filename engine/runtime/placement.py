"""Where a new call goes, and whether there is room for it at all."""

from engine.runtime.clock import Clock


class Gate:
    """Lets so many new calls a second through, with a burst of one second's worth."""

    def __init__(self, clock: Clock, per_s: int, most: int) -> None:
        self._clock = clock
        self.per_s = per_s
        self.most = most
        self._room = float(per_s)
        self._at_ms = clock.now_ms()

    def admits(self, live: int) -> bool:
        """Tell whether one more call may begin while `live` are; counts it if so."""
        if live >= self.most or self.room < 1:
            return False
        self._room -= 1
        return True

    @property
    def room(self) -> float:
        """How many new calls could begin at once now."""
        now = self._clock.now_ms()
        self._room = min(self.per_s, self._room + (now - self._at_ms) * self.per_s / 1000)
        self._at_ms = now
        return self._room
