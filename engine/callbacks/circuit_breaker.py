"""A target's circuit: one that fails again and again is left alone, then asked with one event."""

MAX_FAILURES = 5
OPEN_S = 30.0


class CircuitBreaker:
    """Closed, open until a moment, or half open: one may try. Times are monotonic seconds."""

    def __init__(self, most: int = MAX_FAILURES, open_s: float = OPEN_S) -> None:
        self._max_failures = most
        self._open_s = open_s
        self._failures = 0  # one after another
        self._retry_s: float | None = None  # when one may try; None: closed
        self._is_probing = False

    @property
    def is_closed(self) -> bool:
        """Whether all may go."""
        return self._retry_s is None

    def allows(self, now_s: float) -> bool:
        """Tell whether an event may go now."""
        return self._retry_s is None or (now_s >= self._retry_s and not self._is_probing)

    def wait_s(self, now_s: float) -> float:
        """Tell how long nothing may go."""
        return max(0.0, (self._retry_s or now_s) - now_s)

    def record_start(self) -> None:
        """Note that an event goes."""
        self._is_probing = not self.is_closed

    def record_cancel(self) -> None:
        """Note that the one that was to go did not."""
        self._is_probing = False

    def record_success(self) -> None:
        """Note that one has arrived."""
        self._failures, self._retry_s, self._is_probing = 0, None, False

    def record_failure(self, now_s: float) -> bool:
        """Note that one has not; tells whether the circuit has opened by it."""
        self._failures += 1
        was_tried, self._is_probing = self._is_probing, False
        if self._failures < self._max_failures or not (self.is_closed or was_tried):
            return False  # or one that went before it opened
        was_closed = self.is_closed
        self._retry_s = now_s + self._open_s
        return was_closed
