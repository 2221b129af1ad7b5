"""How many new calls a second begin."""

from engine.runtime.base.clock import Clock


class Gate:
    """Lets so many new calls a second through, with a burst of one second's worth."""

    def __init__(self, clock: Clock, per_s: float, most: int) -> None:
        self._clock = clock
        self.per_s = per_s
        self.most = most
        self._room = max(per_s, 1.0)
        self._at_ms = clock.now_ms()

    def admits(self, live: int) -> bool:
        """Tell whether one more call may begin while `live` are; counts it if so."""
        if live >= self.most or self.room < 1:
            return False
        self.take()
        return True

    @property
    def room(self) -> float:
        """How many new calls could begin at once now."""
        now = self._clock.now_ms()
        # One at least, in time: a rate below one a second lets one call through, too.
        burst = max(self.per_s, 1.0)
        self._room = min(burst, self._room + (now - self._at_ms) * self.per_s / 1000)
        self._at_ms = now
        return self._room

    def take(self) -> None:
        """Count a new call."""
        self._room -= 1
