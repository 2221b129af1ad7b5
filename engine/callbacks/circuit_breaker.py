"""A target's circuit breaker: after repeated failures it pauses delivery, then probes."""

MAX_FAILURES = 5
OPEN_S = 30.0


class CircuitBreaker:
    """Closed, open for a while, or half open: one event may probe. Times are monotonic seconds."""

    def __init__(self, max_failures: int = MAX_FAILURES, open_s: float = OPEN_S) -> None:
        self._max_failures = max_failures
        self._open_s = open_s
        self._failures = 0  # in a row
        self._retry_s: float | None = None  # when one event may probe; None: closed
        self._is_probing = False

    @property
    def is_closed(self) -> bool:
        """Whether every event may be delivered."""
        return self._retry_s is None

    def allows(self, now_s: float) -> bool:
        """Return whether an event may be delivered now."""
        return self._retry_s is None or (now_s >= self._retry_s and not self._is_probing)

    def wait_s(self, now_s: float) -> float:
        """Return how long the circuit stays open."""
        return max(0.0, (self._retry_s or now_s) - now_s)

    def record_start(self) -> None:
        self._is_probing = not self.is_closed

    def record_cancel(self) -> None:
        """Record that a started delivery did not take place."""
        self._is_probing = False

    def record_success(self) -> None:
        self._failures, self._retry_s, self._is_probing = 0, None, False

    def record_failure(self, now_s: float) -> bool:
        """Record that a delivery failed; returns whether this opened the circuit."""
        self._failures += 1
        was_probing, self._is_probing = self._is_probing, False
        if self._failures < self._max_failures or not (self.is_closed or was_probing):
            return False  # too few, or a delivery that began before the circuit opened
        was_closed = self.is_closed
        self._retry_s = now_s + self._open_s
        return was_closed
