"""Authorizes parties before they are called, by their account's dial policy.

An account without a policy may call what the engine's default allows, by default nobody. Policies
are replaced, never removed: the last one read applies while the store is down, and after the store
has lost it, until it is stored again.
"""

from collections.abc import Callable

import msgspec
import structlog

from base.tasks import BackgroundTasks
from base.ttl_cache import TtlCache
from engine.calls.model.call import Call
from engine.calls.reporting.dialled_legs import was_dialled, was_dialled_over_trunk
from engine.runtime.base.interfaces import CallRejection, DialDecision, DialRejection
from engine.runtime.policy.destinations import (
    full_numbers,
    region_of_policy,
    reject_destination,
)
from engine.runtime.policy.leg_limits import LegLimits, NewLeg
from engine.runtime.policy.log_quota import LogQuota
from engine.store.errors import StoreDown
from engine.store.store import DialPolicyStore
from wire.decoding.messages import decode_message
from wire.dial_policy import POLICY_TTL_MS, AccountDialPolicy
from wire.party import Party
from wire.phone_numbers.e164 import main_region
from wire.phone_numbers.international_form import dialled, own_number
from wire.phone_numbers.number_types import valid_beginnings
from wire.streams.recognizer import BUILT_IN

log = structlog.get_logger()


class DialPolicy:
    """Decides by stored policies: at once if the policy is cached and needs no do-not-call list."""

    def __init__(  # noqa: PLR0913 - settings of accounts without a policy of their own
        self,
        store: DialPolicyStore,
        now_ms: Callable[[], int],
        default_caller_id: str = "",
        ttl_ms: int = POLICY_TTL_MS,
        *,
        sip_hosts: tuple[str, ...] = (),
        default: AccountDialPolicy | None = None,
        default_country: str = "",
        is_stopped: Callable[[str], bool] = lambda _account: False,
        limits: LegLimits | None = None,
        logs: LogQuota | None = None,
    ) -> None:
        self._store = store
        self._default = default  # of accounts without a policy; None: they may not call
        self._default_region = main_region(default_country)
        self.is_stopped = is_stopped
        self._limits = limits  # None: of an engine that dials nothing
        self._logs = logs  # None: calls may write as much as each of them may
        self._now_ms = now_ms
        self._sip_hosts = sip_hosts  # which sip: addresses may name
        self._default_caller_id = default_caller_id  # of accounts without a number
        self._policies = TtlCache(self._read, now_ms, ttl_ms)
        self._tasks = BackgroundTasks()

    def authorize(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        parsed = Party.parse(party)
        if self.is_stopped(call.account):
            done(DialDecision("account_stopped", caller_id))
            return
        if not self._is_host_allowed(parsed):
            done(DialDecision("sip_host", caller_id))
            return
        cached = self._policies.get_fresh(call.account)
        if cached is None:
            self._tasks.start(self._decide(call, party, caller_id, done))
            return
        policy = cached.value
        if policy is None:
            done(DialDecision("terms_unknown", caller_id))
            return
        rejection = _reject_count(policy, call)
        must_read = not self._is_use_known(call.account, policy)
        if parsed.is_by_trunk:
            rejection = rejection or reject_destination(policy, party)
            must_read = must_read or policy.do_not_call
        if must_read and not rejection:
            self._tasks.start(self._decide(call, party, caller_id, done))
        elif not parsed.is_by_trunk:
            done(DialDecision(rejection, caller_id))
        else:
            shown = self._caller_id(policy, call, caller_id)
            done(DialDecision(rejection, shown, policy.trunks, _international(party, policy)))

    def admit(self, call: Call, leg_id: str, party: str) -> DialRejection:
        """Count a leg that is dialled now, or return which limit it exceeds."""
        cached = self._policies.get_stale(call.account)
        if self._limits is None:
            return ""
        if cached is None or cached.value is None:
            return "terms_unknown"
        leg = _new_leg(call, leg_id, by_trunk=Party.parse(party).is_by_trunk)
        return self._limits.admit(call.account, cached.value, leg)

    def admit_inbound(self, account: str) -> CallRejection:
        """Count an inbound call that starts now, or return which limit keeps it out.

        The policy is the last one read, as for the region of the caller's number.
        """
        cached = self._policies.get_stale(account)
        if self._limits is None or cached is None or cached.value is None:
            return ""
        if self.is_log_spent(account, self._now_ms()):
            return "log_quota"
        return self._limits.admit_inbound(account, cached.value)

    def agent_caller_id(self, account: str, caller_id: str) -> str:
        """Return what an agent's calls show for the caller id of its document, as the policy says.

        An account may have lost a number since the document was stored.
        """
        cached = self._policies.get_stale(account)
        if cached is None or cached.value is None:
            return caller_id  # nothing is dialled, either
        own = _own_caller_id(cached.value, caller_id)
        return _first_number(cached.value, self._default_caller_id) if own is None else own

    async def check_call(self, account: str) -> CallRejection:
        """Return why an account may start no outbound call now; empty when it may."""
        policy = await self._policy(account)
        if self._limits is None or policy is None:
            return ""
        if self.is_log_spent(account, self._now_ms()):
            return "log_quota"
        return self._limits.reject_call(account, policy)

    def count_log(self, account: str, size: int, now_ms: int) -> None:
        """Count bytes that a call of an account writes to the store, to be kept."""
        if self._logs is not None:
            self._logs.count(account, size, now_ms)

    def is_log_spent(self, account: str, now_ms: int) -> bool:
        """Return whether the calls of an account have written as much as they may."""
        return self._logs is not None and self._logs.is_spent(account, self.last(account), now_ms)

    async def recognizers(self, account: str) -> tuple[str, ...] | None:
        """Return the recognizers that an account may name; None: all.

        They are read only if the account's policy never was: a gather does not wait for the store.
        While the policy is unknown, they are those that cost nothing.
        """
        cached = self._policies.get_stale(account)
        policy = cached.value if cached else await self._policy(account)
        return policy.recognizers if policy else BUILT_IN

    async def check(self, account: str, party: str) -> DialRejection:
        """Return why a new leg to a party may not be dialled; empty when it may."""
        rejection = await self._check(account, party)
        if rejection or self._limits is None:
            return rejection
        policy = await self._policy(account)
        if policy is None:
            return "terms_unknown"
        return self._limits.reject(account, policy, uncounted=1)

    def last(self, account: str) -> AccountDialPolicy:
        """Return the last policy read of an account, which a rejection is explained by."""
        cached = self._policies.get_stale(account)
        return (cached and cached.value) or AccountDialPolicy()

    async def _check(self, account: str, party: str) -> DialRejection:
        """Return why a party may not be called."""
        parsed = Party.parse(party)
        if self.is_stopped(account):
            return "account_stopped"
        if not self._is_host_allowed(parsed):
            return "sip_host"
        policy = await self._policy(account)
        if policy is None:
            return "terms_unknown"
        if parsed.is_by_trunk and (rejection := reject_destination(policy, party)):
            return rejection
        if self._limits is not None:
            await self._limits.read(account, policy)
        must_read = policy.do_not_call and parsed.is_by_trunk
        return await self._check_list(account, policy, party) if must_read else ""

    def known_region(self, account: str) -> str | None:
        """Return the region of an account's national numbers; None: not cached."""
        cached = self._policies.get_fresh(account)
        if cached is None:
            return None
        return region_of_policy(cached.value) if cached.value else self._default_region

    async def region(self, account: str) -> str:
        """Return the region of an account's national numbers; empty: none is known."""
        policy = await self._policy(account)
        return region_of_policy(policy) if policy else self._default_region

    def update(self, account: str, policy: AccountDialPolicy) -> None:
        """Apply a policy that was just stored."""
        self._policies.put(account, policy)

    async def close(self) -> None:
        """Cancel pending reads: recovery repeats them."""
        await self._tasks.close()

    async def _decide(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        rejection = await self._check(call.account, party)
        last = self._policies.get_stale(call.account)
        trunks: tuple[str, ...] = ()
        number = ""
        if last and last.value:
            rejection = _reject_count(last.value, call) or rejection
            if Party.parse(party).is_by_trunk:
                caller_id = self._caller_id(last.value, call, caller_id)
                trunks = last.value.trunks
                number = _international(party, last.value)
        done(DialDecision(rejection, caller_id, trunks, number))

    def _is_use_known(self, account: str, policy: AccountDialPolicy) -> bool:
        return self._limits is None or self._limits.is_known(account, policy)

    def _is_host_allowed(self, party: Party) -> bool:
        return party.kind != "sip" or party.host in self._sip_hosts

    def _caller_id(self, policy: AccountDialPolicy, call: Call, caller_id: str) -> str:
        return allowed_caller_id(policy, call, caller_id, self._default_caller_id)

    async def _policy(self, account: str) -> AccountDialPolicy | None:
        """Return an account's policy, the last one if the store is down; None: never read."""
        try:
            return await self._policies.get(account)
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("dial policy not read", account=account, error=str(error))
        last = self._policies.get_stale(account)
        return last.value if last else None

    async def _read(self, account: str) -> AccountDialPolicy | None:
        body = await self._store.get(account)
        if body is not None:
            return decode_message(body, AccountDialPolicy)
        last = self._policies.get_stale(account)
        return last.value if last else self._default

    async def _check_list(
        self, account: str, policy: AccountDialPolicy, party: str
    ) -> DialRejection:
        region = region_of_policy(policy)
        numbers = full_numbers(dialled(party, region), region)
        if not numbers:
            return ""
        reached = tuple(each for number in numbers for each in valid_beginnings(number))
        try:
            listed = await self._store.is_listed(account, (*numbers, *reached))
        except StoreDown as error:
            log.warning("do-not-call list not read", account=account, error=str(error))
            return "terms_unknown"
        if listed is None:
            log.warning("do-not-call list missing", account=account)
            return "terms_unknown"
        return "do_not_call" if listed else ""


def _international(party: str, policy: AccountDialPolicy) -> str:
    """Return the international form that a number is dialled in; empty: it is dialled as it is."""
    number = dialled(party, region_of_policy(policy))
    return "" if number == party else number


def _new_leg(call: Call, leg_id: str, *, by_trunk: bool) -> NewLeg:
    """Return a leg with what the call dials at once with it, after it."""
    ids = [leg.id for leg in call.legs]
    after = call.legs[ids.index(leg_id) + 1 :] if leg_id in ids else ()
    waiting = [leg for leg in after if leg.state == "requested" and was_dialled(leg)]
    return NewLeg(
        by_trunk,
        is_admitted=call.direction == "outbound" and leg_id == call.main,
        waiting=len(waiting),
        waiting_for_trunk=sum(map(was_dialled_over_trunk, waiting)),
    )


def _reject_count(policy: AccountDialPolicy, call: Call) -> DialRejection:
    """Return whether a call has had more legs than it may; the one to be dialled counts.

    A webhook may answer `dial` for ever: each round costs money. Legs in the place of others count.
    """
    legs = len(call.legs) + len(call.ended_legs) + call.ended_legs_omitted
    own = legs - (call.direction == "inbound")  # without the caller's
    return "legs_per_call" if own > policy.max_legs_per_call else ""


def allowed_caller_id(policy: AccountDialPolicy, call: Call, caller_id: str, default: str) -> str:
    """Return the caller id in E.164 form if it may be shown, or else the account's first number.

    An outside caller's number may be shown to parties called for it: the account did not choose it.
    """
    own = _own_caller_id(policy, caller_id)
    is_callers = call.caller_kind == "trunk" and caller_id == call.from_
    return own if own is not None else caller_id if is_callers else _first_number(policy, default)


def _own_caller_id(policy: AccountDialPolicy, caller_id: str) -> str | None:
    """Return a caller id as the account may show it, empty as it is; None: it may not."""
    if policy.numbers is None or not caller_id:
        return caller_id
    return own_number(caller_id, policy.numbers, region_of_policy(policy)) or None


def _first_number(policy: AccountDialPolicy, default: str) -> str:
    return next(iter(policy.numbers or ()), default)
