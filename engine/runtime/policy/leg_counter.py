"""Counts this engine's legs: those on the trunk, and those that each account has dialled.

A count follows from the calls alone: what is not dialled, or belongs to a call of another engine,
cannot stay counted.
"""

from collections import defaultdict

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.leg import Leg
from engine.calls.reporting.dialled_legs import (
    ended_legs_ms,
    is_on_trunk,
    was_dialled,
)
from engine.runtime.base.node_report import AccountUse
from engine.runtime.policy.dial_loops import DialLoops, Forwarding, forwarding_of


class CallLegs(Struct, frozen=True):
    """What one call adds to the counts."""

    legs: tuple[Leg, ...]  # that were counted
    account: str
    on_trunk: int
    dialled: int  # to numbers, addresses and agents
    answered: int  # of those dialled
    answered_sum_ms: int  # the sum of the times of their answers
    ended_ms: int  # how long such legs that have ended lasted
    forwarding: Forwarding


class AccountLoad(Struct):
    """What an account's live calls use."""

    calls: int = 0
    dialled: int = 0
    answered: int = 0
    answered_sum_ms: int = 0
    ended_ms: int = 0

    def used_ms(self, now: int) -> int:
        """Return how long the legs that live calls dialled have lasted until now."""
        return self.ended_ms + max(0, self.answered * now - self.answered_sum_ms)


NO_LOAD = AccountLoad()


class LegCounter:
    """The legs of this engine's live calls."""

    def __init__(self) -> None:
        self.on_trunk = 0
        self.loops = DialLoops()
        self._calls: dict[str, CallLegs] = {}
        self._accounts: defaultdict[str, AccountLoad] = defaultdict(AccountLoad)

    def update(self, call: Call) -> None:
        """Count the legs of a call as it is now."""
        before = self._calls.get(call.id)
        if before is not None and _counts_the_same(before.legs, call.legs):
            return
        after = _count(call)
        if before is not None:
            self._add(before, -1)
        self._calls[call.id] = after
        self._add(after, 1)

    def remove(self, call_id: str) -> None:
        """Forget a call: it has ended, or another engine runs it."""
        if before := self._calls.pop(call_id, None):
            self._add(before, -1)
            if not self._accounts[before.account].calls:
                del self._accounts[before.account]

    def of(self, account: str) -> AccountLoad:
        """Return the load of an account."""
        return self._accounts.get(account, NO_LOAD)

    def by_account(self, now: int) -> dict[str, AccountUse]:
        """Return what the calls of each account that has some use."""
        return {
            name: AccountUse(each.dialled, each.used_ms(now), each.calls)
            for name, each in self._accounts.items()
        }

    def _add(self, each: CallLegs, sign: int) -> None:
        self.on_trunk += sign * each.on_trunk
        load = self._accounts[each.account]
        load.calls += sign
        load.dialled += sign * each.dialled
        load.answered += sign * each.answered
        load.answered_sum_ms += sign * each.answered_sum_ms
        load.ended_ms += sign * each.ended_ms
        self.loops.add(each.forwarding, sign)


def _counts_the_same(before: tuple[Leg, ...], after: tuple[Leg, ...]) -> bool:
    """Return whether nothing has changed that is counted: most steps change other things."""
    if before is after:
        return True
    return len(before) == len(after) and all(
        one is other or _key(one) == _key(other) for one, other in zip(before, after, strict=True)
    )


def _key(leg: Leg) -> tuple[str, int, str, str | None]:
    return leg.id, leg.answered_ms, leg.replaces, leg.agent_id


def _count(call: Call) -> CallLegs:
    on_trunk = [leg for leg in call.legs if is_on_trunk(leg) and not _is_calling_phone(call, leg)]
    dialled = [leg for leg in call.legs if was_dialled(leg)]
    answered = [leg.answered_ms for leg in dialled if leg.answered_ms]
    return CallLegs(
        call.legs,
        call.account,
        len(on_trunk),
        len(dialled),
        len(answered),
        sum(answered),
        ended_legs_ms(call),
        forwarding_of(call),
    )


def _is_calling_phone(call: Call, leg: Leg) -> bool:
    """Return whether it is the leg of a phone that called in: its party is a caller id."""
    return call.caller_kind in {"agent", "phone"} and leg.id == call.main
