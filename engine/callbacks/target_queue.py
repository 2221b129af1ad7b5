"""A target's lane: so many events at once and a second, apart from all other targets'."""

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from engine.callbacks.call_queue import CallQueue
from engine.callbacks.circuit_breaker import CircuitBreaker

MAX_READY_CALLS = 1_000  # lines; more stay in the store
FULL_RETRY_DELAY_S = 2.0


class RateLimit(Struct, frozen=True):
    """What a target bears: at once, and a second."""

    concurrency: int = 32
    per_s: float | None = None


INITIAL_RATE_LIMIT = RateLimit(concurrency=1)  # until it is known what the target bears


class TargetQueue:
    """Lines that wait for their turn, and the circuit of who they go to."""

    def __init__(self, way: str, circuit: CircuitBreaker, monotonic: Callable[[], float]) -> None:
        self.delivery_key = way
        self.circuit = circuit
        self.rate_limit = INITIAL_RATE_LIMIT
        self.ready: deque[CallQueue] = deque()
        self.in_flight = 0
        self.last_used_s = monotonic()
        self.has_timer = False  # it is looked at when its pace allows the next
        self._monotonic = monotonic
        self._next_start_s = 0.0  # the next may begin

    def has_room(self) -> bool:
        """Tell whether one more line may wait here."""
        now_s = self._monotonic()
        if not self.circuit.is_closed:
            return self.circuit.allows(now_s) and not self.ready
        return len(self.ready) < MAX_READY_CALLS

    def retry_delay_s(self) -> float:
        """Tell after which time somebody who found no room may look again."""
        return self.circuit.wait_s(self._monotonic()) or FULL_RETRY_DELAY_S

    def start_next(self) -> CallQueue | None:
        """Give the line whose turn it is, if one may begin now."""
        now_s = self._monotonic()
        may = self.in_flight < self.rate_limit.concurrency and now_s >= self._next_start_s
        if not (self.ready and may and self.circuit.allows(now_s)):
            return None
        if self.rate_limit.per_s is not None:
            self._next_start_s = (
                max(self._next_start_s, now_s - 1 / self.rate_limit.per_s)
                + 1 / self.rate_limit.per_s
            )
        self.in_flight += 1
        self.last_used_s = now_s
        self.circuit.record_start()
        return self.ready.popleft()

    def record_result(self, *, is_answered: bool) -> bool:
        """Tell the circuit how the target does; tells whether it has opened by that."""
        if is_answered:
            self.circuit.record_success()
            return False
        return self.circuit.record_failure(self._monotonic())

    def rate_limit_wait_s(self) -> float | None:
        """Tell when the next may begin, where only the pace holds it back."""
        wait_s = self._next_start_s - self._monotonic()
        held = self.ready and self.in_flight < self.rate_limit.concurrency
        return wait_s if held and wait_s > 0 else None

    def take_blocked(self) -> list[CallQueue]:
        """Give up the lines that wait, once nothing may go."""
        if self.circuit.allows(self._monotonic()) or not self.ready:
            return []
        ready, self.ready = list(self.ready), deque()
        return ready

    def is_unused(self, for_s: float) -> bool:
        """Tell whether nothing has gone here for so long, and nothing is known of it."""
        quiet = self._monotonic() - self.last_used_s > for_s
        return quiet and not self.ready and not self.in_flight
