"""Limits that all engines keep together: of a node's calls, and of the trunk's."""

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.model.party import is_by_trunk
from engine.runtime.base.clock import Clock

TRUNK = "*trunk"  # as what an engine counts its legs on the trunk beside its calls by node
LEGS_PER_MS = (
    20  # counting one takes half a microsecond: so it takes a hundredth of the time at most
)


class CapacityLimits(Struct, frozen=True):
    """What a node gets beside the others, and at most; None: no limit."""

    weight: float = 1.0
    max_calls: int | None = None
    max_calls_per_s: int | None = None


UNLIMITED = CapacityLimits()


class Unavailable(Struct, frozen=True):
    """Why no new call may begin."""

    code: str
    detail: str


class ClusterLoad(Protocol):
    """What is known of the other engines; `peers.Peers` is the real one."""

    @property
    def engine_count(self) -> int:
        """How many engines live, this one among them."""

    def calls(self, node: str) -> int:
        """Count what the others have on a node, or, as TRUNK, on the trunk."""


class SingleEngine:
    """No other engine."""

    engine_count = 1

    def calls(self, _node: str) -> int:
        """Count none."""
        return 0


class CapacityLimiter:
    """So many at once in all engines, and a fair part of so many new ones a second in this one."""

    def __init__(
        self, clock: Clock, terms: CapacityLimits, others: ClusterLoad, kind: str, whose: str
    ) -> None:
        self._terms = terms
        self._others = others
        self._kind = kind
        self._whose = whose
        self._gate = RateLimiter(clock, terms.max_calls_per_s or 1, 0)

    def unavailable(self, live: int) -> Unavailable | None:
        """Tell why there can't be one more while all engines have so many."""
        most, per_s = self._terms.max_calls, self._terms.max_calls_per_s
        if most is not None and live >= most:
            return Unavailable(f"{self._kind}_full", f"{self._whose} has its {most} calls")
        if per_s is not None:
            self._gate.per_s = per_s / self._others.engine_count
            if self._gate.available < 1:
                detail = f"{self._whose} gets its {per_s} new calls a second"
                return Unavailable(f"{self._kind}_rate", detail)
        return None

    def take(self) -> None:
        """Count a new one."""
        self._gate.take()


class TrunkLegs:
    """Counts this engine's legs on the trunk, the more seldom the more there are."""

    def __init__(self, clock: Clock, calls: Callable[[], Iterable[Call]]) -> None:
        self._clock = clock
        self._calls = calls
        self._counted_ms = 0
        self._count = 0

    @property
    def count(self) -> int:
        """How many there are; one that ended a moment ago may still count."""
        now = self._clock.now_ms()
        if now - self._counted_ms >= self._count // LEGS_PER_MS:
            self._count, self._counted_ms = sum(map(_legs_by_trunk, self._calls())), now
        return self._count

    def take(self) -> None:
        """Count a new one."""
        self._count += 1


def _legs_by_trunk(call: Call) -> int:
    return sum(is_by_trunk(leg.party) and not _is_agents_own(call, leg) for leg in call.legs)


def _is_agents_own(call: Call, leg: Leg) -> bool:
    """Tell whether it is the leg of an agent who called in: its party is what the phone showed."""
    return call.direction == "inbound" and leg.id == call.main and bool(leg.agent_id)


class RateLimiter:
    """Lets so many new calls a second through, with a burst of one second's worth."""

    def __init__(self, clock: Clock, per_s: float, most: int) -> None:
        self._clock = clock
        self.per_s = per_s
        self.max_calls = most
        self._room = max(per_s, 1.0)
        self._at_ms = clock.now_ms()

    def try_take(self, live: int) -> bool:
        """Tell whether one more call may begin while `live` are; counts it if so."""
        if live >= self.max_calls or self.available < 1:
            return False
        self.take()
        return True

    @property
    def available(self) -> float:
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
