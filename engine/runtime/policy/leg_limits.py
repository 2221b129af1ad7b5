"""Limits of an account: live calls and new inbound ones; live legs, their rate, minutes a day.

An account that calls one number may dial hundreds from its webhooks: so what counts is every leg
that it dials, whatever requested it. Callers are no such legs: inbound calls have their own limits.
"""

from collections.abc import Awaitable, Callable

import structlog
from msgspec import Struct

from base.ttl_cache import TtlCache
from engine.runtime.base.clock import Clock
from engine.runtime.base.interfaces import CallRejection, DialRejection
from engine.runtime.policy.capacity_limits import (
    TRUNK,
    CapacityLimiter,
    ClusterLoad,
    RateLimiter,
)
from engine.runtime.policy.leg_counter import LegCounter
from engine.store.errors import StoreDown
from wire.dial_policy import AccountDialPolicy

log = structlog.get_logger()
USED_TTL_MS = 2_000
MINUTE_MS = 60_000
# Reads how long the dialled legs of an account's ended calls of today lasted; raises StoreDown.
ReadUsed = Callable[[str], Awaitable[int]]


class NewLeg(Struct, frozen=True):
    """A leg that is dialled now. It is part of its call, which may have further legs to dial."""

    by_trunk: bool
    is_admitted: bool = False  # the first leg of a requested call: the trunk had room for the call
    waiting: int = 0  # legs of its call that are to be dialled after it
    waiting_for_trunk: int = 0  # those of them that go over the trunk


class LegLimits:
    """Counts the calls and legs of all engines; the time of ended calls is in the store."""

    def __init__(
        self,
        clock: Clock,
        legs: LegCounter,
        cluster: ClusterLoad,
        trunk: CapacityLimiter,
        read_used: ReadUsed,
    ) -> None:
        self._clock = clock
        self._legs = legs
        self._cluster = cluster
        self._trunk = trunk
        self._used = TtlCache(read_used, clock.now_ms, USED_TTL_MS)
        self._leg_rates: dict[str, RateLimiter] = {}
        self._inbound_rates: dict[str, RateLimiter] = {}

    def reject_call(self, account: str, policy: AccountDialPolicy) -> CallRejection:
        """Return whether an account has as many live calls, in both directions, as it may."""
        if policy.max_calls is None:
            return ""
        live = self._cluster.account_use(account).calls + self._legs.of(account).calls
        return "live_calls" if live >= policy.max_calls else ""

    def admit_inbound(self, account: str, policy: AccountDialPolicy) -> CallRejection:
        """Count an inbound call that starts now, or return which limit keeps it out."""
        if rejection := self.reject_call(account, policy):
            return rejection
        if policy.max_calls_per_s is not None:
            rate = self._rate(self._inbound_rates, account, policy.max_calls_per_s)
            if rate.available < 1:
                return "call_rate"
            rate.take()
        return ""

    def is_known(self, account: str, policy: AccountDialPolicy) -> bool:
        """Return whether a decision needs no read."""
        return policy.max_minutes_per_day is None or self._used.get_fresh(account) is not None

    async def read(self, account: str, policy: AccountDialPolicy) -> None:
        """Read what a decision needs; if the store is down, the last value applies."""
        if policy.max_minutes_per_day is None:
            return
        try:
            await self._used.get(account)
        except StoreDown as error:
            log.warning("minutes of an account not read", account=account, error=str(error))

    def reject(self, account: str, policy: AccountDialPolicy, uncounted: int = 0) -> DialRejection:
        """Return which limit an account has reached, if any.

        `uncounted` legs are to be dialled now, but are not part of a call yet.
        """
        live = self._cluster.account_use(account).legs + self._legs.of(account).dialled + uncounted
        if policy.max_live_legs is not None and live > policy.max_live_legs:
            return "live_legs"
        if rejection := self._reject_minutes(account, policy):
            return rejection
        rate = self._leg_rate(account, policy)
        return "leg_rate" if rate is not None and rate.available < 1 else ""

    def admit(self, account: str, policy: AccountDialPolicy, leg: NewLeg) -> DialRejection:
        """Count a leg that is dialled now, or return why it may not be."""
        rejection = self.reject(account, policy, -leg.waiting)
        needs_trunk = leg.by_trunk and not leg.is_admitted
        if needs_trunk and not rejection:
            rejection = self._reject_trunk(leg.waiting_for_trunk)
        if rejection:
            return rejection
        if (rate := self._leg_rate(account, policy)) is not None:
            rate.take()
        if needs_trunk:
            self._trunk.take()
        return ""

    def _reject_minutes(self, account: str, policy: AccountDialPolicy) -> DialRejection:
        if policy.max_minutes_per_day is None:
            return ""
        ended = self._used.get_stale(account)
        if ended is None:
            return "terms_unknown"
        used_ms = self._cluster.account_use(account).used_ms + ended.value
        used_ms += self._legs.of(account).used_ms(self._clock.now_ms())
        return "daily_minutes" if used_ms >= policy.max_minutes_per_day * MINUTE_MS else ""

    def _reject_trunk(self, waiting: int) -> DialRejection:
        others = self._cluster.calls(TRUNK) - waiting - 1
        reason = self._trunk.unavailable(lambda: self._legs.on_trunk + others)
        if reason is None:
            return ""
        return "trunk_rate" if reason.code == "trunk_rate" else "trunk_full"

    def _leg_rate(self, account: str, policy: AccountDialPolicy) -> RateLimiter | None:
        per_s = policy.max_legs_per_s
        return None if per_s is None else self._rate(self._leg_rates, account, per_s)

    def _rate(self, rates: dict[str, RateLimiter], account: str, per_s: float) -> RateLimiter:
        """Return an account's limiter, with this engine's share of the rate."""
        per_s /= self._cluster.engine_count
        limiter = rates.get(account)
        if limiter is None:
            limiter = rates[account] = RateLimiter(self._clock, per_s, 0)
        limiter.per_s = per_s
        return limiter
