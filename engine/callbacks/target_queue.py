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
        self.way = way
        self.circuit = circuit
        self.pace = INITIAL_RATE_LIMIT
        self.ready: deque[CallQueue] = deque()
        self.busy = 0
        self.used_s = monotonic()
        self.is_timed = False  # it is looked at when its pace allows the next
        self._monotonic = monotonic
        self._from_s = 0.0  # the next may begin

    def has_room(self) -> bool:
        """Tell whether one more line may wait here."""
        now_s = self._monotonic()
        if not self.circuit.is_closed:
            return self.circuit.allows(now_s) and not self.ready
        return len(self.ready) < MAX_READY_CALLS

    def back_in_s(self) -> float:
        """Tell after which time somebody who found no room may look again."""
        return self.circuit.wait_s(self._monotonic()) or FULL_RETRY_DELAY_S

    def next(self) -> CallQueue | None:
        """Give the line whose turn it is, if one may begin now."""
        now_s = self._monotonic()
        may = self.busy < self.pace.concurrency and now_s >= self._from_s
        if not (self.ready and may and self.circuit.allows(now_s)):
            return None
        if self.pace.per_s is not None:
            self._from_s = max(self._from_s, now_s - 1 / self.pace.per_s) + 1 / self.pace.per_s
        self.busy += 1
        self.used_s = now_s
        self.circuit.began()
        return self.ready.popleft()

    def tell(self, *, is_answered: bool) -> bool:
        """Tell the circuit how the target does; tells whether it has opened by that."""
        if is_answered:
            self.circuit.succeeded()
            return False
        return self.circuit.failed(self._monotonic())

    def paced_s(self) -> float | None:
        """Tell when the next may begin, where only the pace holds it back."""
        wait_s = self._from_s - self._monotonic()
        held = self.ready and self.busy < self.pace.concurrency
        return wait_s if held and wait_s > 0 else None

    def left(self) -> list[CallQueue]:
        """Give up the lines that wait, once nothing may go."""
        if self.circuit.allows(self._monotonic()) or not self.ready:
            return []
        ready, self.ready = list(self.ready), deque()
        return ready

    def is_idle(self, for_s: float) -> bool:
        """Tell whether nothing has gone here for so long, and nothing is known of it."""
        quiet = self._monotonic() - self.used_s > for_s
        return quiet and not self.ready and not self.busy
