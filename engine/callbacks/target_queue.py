"""A target's queue: limits its concurrency and rate, apart from all other targets.

A target starts slowly: one delivery at a time, and one more for each success, up to its limit
(1, 2, 4 … in each round). A failure halves that, so one event that the customer's code rejects
holds up no other call; an open circuit starts again at one.
"""

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from engine.callbacks.shard_queues import CallQueue

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


MAX_READY_CALLS = 1_000  # more stay in the store
FULL_RETRY_DELAY_S = 2.0


class RateLimit(Struct, frozen=True):
    """What a target accepts: concurrent deliveries, and deliveries a second."""

    concurrency: int = 32
    per_s: float | None = None


INITIAL_RATE_LIMIT = RateLimit(concurrency=1)  # until the target's own limit is known


class TargetQueue:
    """Calls with events for one target, and the target's circuit breaker."""

    def __init__(
        self, delivery_key: str, circuit: CircuitBreaker, monotonic: Callable[[], float]
    ) -> None:
        self.delivery_key = delivery_key
        self.account = delivery_key.partition(" ")[0]
        self.circuit = circuit
        self.rate_limit = INITIAL_RATE_LIMIT
        self.ready: deque[CallQueue] = deque()
        self.in_flight = 0
        self.last_used_s = monotonic()
        self.has_timer = False  # set to go off when the rate limit allows the next delivery
        self.is_proven = False  # its last attempt succeeded
        self._window = 1  # deliveries in flight that its results allow so far
        self._monotonic = monotonic
        self._next_start_s = 0.0

    @property
    def concurrency(self) -> int:
        """How many deliveries may be in flight now."""
        return min(self._window, self.rate_limit.concurrency)

    def has_room(self) -> bool:
        """Return whether one more call may wait here."""
        now_s = self._monotonic()
        if not self.circuit.is_closed:
            return self.circuit.allows(now_s) and not self.ready
        return len(self.ready) < MAX_READY_CALLS

    def retry_delay_s(self) -> float:
        """Return when a call that found no room may try again."""
        return self.circuit.wait_s(self._monotonic()) or FULL_RETRY_DELAY_S

    def start_next(self) -> CallQueue | None:
        """Take the next call if the limits allow a delivery now."""
        now_s = self._monotonic()
        is_within_limits = self.in_flight < self.concurrency
        is_within_limits = is_within_limits and now_s >= self._next_start_s
        if not (self.ready and is_within_limits and self.circuit.allows(now_s)):
            return None
        if self.rate_limit.per_s is not None:
            interval_s = 1 / self.rate_limit.per_s
            self._next_start_s = max(self._next_start_s, now_s - interval_s) + interval_s
        self.in_flight += 1
        self.last_used_s = now_s
        self.circuit.record_start()
        return self.ready.popleft()

    def record_result(self, *, is_target_up: bool) -> bool:
        """Update the circuit; returns whether this opened it."""
        self.is_proven = is_target_up
        if is_target_up:
            self._window = self.concurrency + 1
            self.circuit.record_success()
            return False
        has_opened = self.circuit.record_failure(self._monotonic())
        self._window = max(1, self.concurrency // 2) if self.circuit.is_closed else 1
        return has_opened

    def rate_limit_wait_s(self) -> float | None:
        """Return when the next delivery may start, if only the rate delays it."""
        wait_s = self._next_start_s - self._monotonic()
        is_waiting = self.ready and self.in_flight < self.concurrency
        return wait_s if is_waiting and wait_s > 0 else None

    def take_blocked(self) -> list[CallQueue]:
        """Remove and return the waiting calls while the circuit is open."""
        if self.circuit.allows(self._monotonic()) or not self.ready:
            return []
        ready, self.ready = list(self.ready), deque()
        return ready

    def is_unused(self, for_s: float) -> bool:
        """Return whether no delivery started for so long and none waits."""
        is_quiet = self._monotonic() - self.last_used_s > for_s
        return is_quiet and not self.ready and not self.in_flight
