"""Limits on calls: of a PBX node and of the trunk, over all engines, and of this engine's rate."""

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from engine.runtime.base.clock import Clock
from engine.runtime.base.node_report import AccountUse, NodeReport
from wire.shard import ShardId

TRUNK = "*trunk"  # the name under which an engine reports its trunk legs, beside its nodes


class CapacityLimits(Struct, frozen=True):
    """A node's weight beside the other nodes, and its limits over all engines; None: no limit."""

    weight: float = 1.0
    max_calls: int | None = None
    max_calls_per_s: int | None = None


UNLIMITED = CapacityLimits()


class Unavailable(Struct, frozen=True):
    """Why no new call may start."""

    code: str
    detail: str


class ClusterLoad(Protocol):
    """The load of the other engines; see `cluster.Membership`."""

    @property
    def engine_count(self) -> int:
        """How many engines are alive, including this one."""

    def rate_share(self, node: str) -> float:
        """Return this engine's part of the new calls of a node."""

    def owner_at(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        """Return another engine's shard that gets new calls, at one of some nodes."""

    def owner_with_room(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        """Return a shard at one of some nodes, of another engine with room for calls."""

    def pass_on(self, node: str, slots: int) -> ShardId | None:
        """Return another engine's shard at a node, and count a call that it gets."""

    def passed_on(self, node: str) -> int:
        """Count the calls passed on to a node since the other engines' last heartbeats."""

    def calls(self, node: str) -> int:
        """Count the other engines' calls on a node, or, as TRUNK, their legs on the trunk."""

    def account_use(self, account: str) -> AccountUse:
        """Return what an account's calls in the other engines use."""

    def node_report(self, node: str) -> NodeReport | None:
        """Return what another engine reports of a node's health."""


class SingleEngine:
    """There is no other engine."""

    engine_count = 1

    def rate_share(self, _node: str) -> float:
        return 1.0

    def owner_at(self, _nodes: Iterable[str], _slots: int) -> ShardId | None:
        return None

    def owner_with_room(self, _nodes: Iterable[str], _slots: int) -> ShardId | None:
        return None

    def pass_on(self, _node: str, _slots: int) -> ShardId | None:
        return None

    def passed_on(self, _node: str) -> int:
        return 0

    def calls(self, _node: str) -> int:
        return 0

    def account_use(self, _account: str) -> AccountUse:
        return AccountUse()

    def node_report(self, _node: str) -> NodeReport | None:
        return None


class RateLimiter:
    """A token bucket: `per_s` new calls a second, with a burst of one second's worth."""

    def __init__(self, clock: Clock, per_s: float, max_calls: int) -> None:
        self._clock = clock
        self.per_s = per_s
        self.max_calls = max_calls
        self._available = max(per_s, 1.0)
        self._at_ms = clock.now_ms()

    @property
    def available(self) -> float:
        """How many new calls may start at once now."""
        now = self._clock.now_ms()
        # At least one: a rate below one a second must let a call through in time, too.
        burst = max(self.per_s, 1.0)
        passed_ms = max(0, now - self._at_ms)  # the clock may have been set back
        self._available = min(burst, self._available + passed_ms * self.per_s / 1000)
        self._at_ms = now
        return self._available

    def take(self) -> None:
        self._available -= 1

    def give_back(self) -> None:
        """Take back that a call was counted: it did not start."""
        self._available += 1


class CapacityLimiter:
    """Limits live calls over all engines, and new calls to this engine's share of the rate.

    `kind` is the prefix of the codes, `subject` what the details are about.
    """

    def __init__(
        self,
        clock: Clock,
        limits: CapacityLimits,
        rate_share: Callable[[], float],
        kind: str,
        subject: str,
    ) -> None:
        self._limits = limits
        self._rate_share = rate_share
        self._kind = kind
        self._subject = subject
        self._rate_limiter = RateLimiter(clock, limits.max_calls_per_s or 1, 0)

    def unavailable(self, count_live: Callable[[], int]) -> Unavailable | None:
        """Return why no call may start; None: it may.

        `count_live` counts those of all engines, if there is a limit.
        """
        max_calls, per_s = self._limits.max_calls, self._limits.max_calls_per_s
        if max_calls is not None and count_live() >= max_calls:
            return Unavailable(f"{self._kind}_full", f"{self._subject} has its {max_calls} calls")
        if per_s is not None:
            self._rate_limiter.per_s = per_s * self._rate_share()
            if self._rate_limiter.available < 1:
                detail = f"{self._subject} gets its {per_s} new calls a second"
                return Unavailable(f"{self._kind}_rate", detail)
        return None

    def take(self) -> None:
        self._rate_limiter.take()

    def give_back(self) -> None:
        self._rate_limiter.give_back()
