"""Authorizes parties before they are called, by their account's dial policy.

An account without a policy may call any number. Policies are replaced, never removed: the last one
read applies while the store is down, and after the store has lost it, until it is stored again.
"""

import re
from collections.abc import Callable, Iterator

import msgspec
import structlog

from engine.calls.model.call import Call
from engine.calls.model.call_id_format import call_of
from engine.common.tasks import BackgroundTasks
from engine.common.ttl_cache import DEFAULT_TTL_MS, TtlCache
from engine.runtime.base.interfaces import DialDecision, DialRejection
from engine.store.errors import StoreDown
from engine.store.store import DialPolicyStore
from wire.dial_policy import AccountDialPolicy
from wire.party import Party

log = structlog.get_logger()
NO_LIMITS = AccountDialPolicy()
_SEPARATORS = re.compile(r"[-.]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")
# Separates a service code before a number, its end mark, and digits to be sent after it.
_PARTS = re.compile(r"[*#]+|(?=\+)")
_INTERNATIONAL_PREFIXES = ("00", "011", "0011", "010", "810")  # ITU-T E.164D
# Country codes (ITU-T E.164D), and the zero after them that only national calls dial.
_TRUNK_ZERO = re.compile(
    r"(\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[035789]|9[679])[0-9]))0([0-9]{4,})"
)


class DialPolicy:
    """Decides by stored policies: at once if the policy is cached and needs no do-not-call list."""

    def __init__(
        self,
        store: DialPolicyStore,
        now_ms: Callable[[], int],
        default_caller_id: str = "",
        ttl_ms: int = DEFAULT_TTL_MS,
        *,
        sip_hosts: tuple[str, ...] = (),
    ) -> None:
        self._store = store
        self._sip_hosts = sip_hosts  # which sip: addresses may name
        self._default_caller_id = default_caller_id  # of accounts without a number
        self._policies = TtlCache(self._read, now_ms, ttl_ms)
        self._tasks = BackgroundTasks()

    def authorize(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        parsed = Party.parse(party)
        if not parsed.is_by_trunk:
            done(DialDecision("", caller_id))
            return
        if not self._is_host_allowed(parsed):
            done(DialDecision("sip_host", caller_id))
            return
        cached = self._policies.get_fresh(call.account)
        policy = cached.value if cached else None
        if policy is NO_LIMITS:
            done(DialDecision("", caller_id))
        elif policy is not None and (not policy.do_not_call or not is_allowed(policy, party)):
            rejection: DialRejection = "" if is_allowed(policy, party) else "not_allowed"
            done(DialDecision(rejection, self._caller_id(policy, call, caller_id)))
        else:
            self._tasks.start(self._decide(call, party, caller_id, done))

    async def check(self, account: str, party: str) -> DialRejection:
        """Return why a party may not be called; empty when it may."""
        parsed = Party.parse(party)
        if not parsed.is_by_trunk:
            return ""
        if not self._is_host_allowed(parsed):
            return "sip_host"
        policy = await self._policy(account)
        if policy is None:
            return "terms_unknown"
        if not is_allowed(policy, party):
            return "not_allowed"
        return await self._check_list(account, policy, party) if policy.do_not_call else ""

    def known_country(self, account: str) -> str | None:
        """Return the calling code of an account's national numbers; None: not cached."""
        cached = self._policies.get_fresh(account)
        return cached.value.country if cached else None

    async def country(self, account: str) -> str:
        """Return the calling code of an account's national numbers; empty: none is known."""
        policy = await self._policy(account)
        return policy.country if policy else ""

    def update(self, account: str, policy: AccountDialPolicy) -> None:
        """Apply a policy that was just stored."""
        self._policies.put(account, policy)

    async def close(self) -> None:
        """Cancel pending reads: recovery repeats them."""
        await self._tasks.close()

    async def _decide(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        rejection = await self.check(call.account, party)
        last = self._policies.get_stale(call.account)
        policy = last.value if last else NO_LIMITS
        done(DialDecision(rejection, self._caller_id(policy, call, caller_id)))

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

    async def _read(self, account: str) -> AccountDialPolicy:
        body = await self._store.get(account)
        if body is not None:
            return msgspec.json.decode(body, type=AccountDialPolicy)
        last = self._policies.get_stale(account)
        return last.value if last else NO_LIMITS

    async def _check_list(
        self, account: str, policy: AccountDialPolicy, party: str
    ) -> DialRejection:
        numbers = full_numbers(party, policy.country)
        if not numbers:
            return ""
        try:
            listed = await self._store.is_listed(account, numbers)
        except StoreDown as error:
            log.warning("do-not-call list not read", account=account, error=str(error))
            return "terms_unknown"
        if listed is None:
            log.warning("do-not-call list missing", account=account)
            return "terms_unknown"
        return "do_not_call" if listed else ""


def is_allowed(policy: AccountDialPolicy, party: str) -> bool:
    """Return whether the policy's prefixes allow a party."""
    return policy.destinations is None or party.startswith(policy.destinations)


def full_numbers(party: str, country: str) -> tuple[str, ...]:
    """Return the full numbers that a party may stand for; none for a name.

    If a list has +4721930000, it matches 004721930000, sip:+4721930000@host, 4721930000, in
    Norway 21930000, and *31*21930000 and +4721930000#, too.
    """
    user = party.partition(":")[2].partition("@")[0] if party.startswith("sip") else party
    parts = filter(_DIGITS.fullmatch, _PARTS.split(_SEPARATORS.sub("", user)))
    return tuple(dict.fromkeys(each for part in parts for each in _candidates(part, country)))


def _candidates(dialled: str, country: str) -> Iterator[str]:
    digits = dialled.removeprefix("+")
    abroad = [
        f"+{digits.removeprefix(each)}"
        for each in _INTERNATIONAL_PREFIXES
        if digits.startswith(each)
    ]
    at_home = [f"+{country}{digits}", f"+{country}{digits.removeprefix('0')}"]
    yield f"+{digits}"
    yield from abroad
    if country and not dialled.startswith("+"):
        yield from at_home
    for number in (f"+{digits}", *abroad):
        if found := _TRUNK_ZERO.fullmatch(number):
            yield "".join(found.groups())


def allowed_caller_id(policy: AccountDialPolicy, call: Call, caller_id: str, default: str) -> str:
    """Return the caller id if it may be shown, or else the account's first number.

    An outside caller's number may be shown to parties called for it: the account did not choose it.
    """
    if policy.numbers is None or not caller_id:
        return caller_id
    number = f"+{caller_id.removeprefix('+')}"
    if number in policy.numbers or (caller_id == call.from_ and _is_from_outside(call)):
        return caller_id
    return next(iter(policy.numbers), default)


def _is_from_outside(call: Call) -> bool:
    """Return whether the caller is not an agent: agents' phones may send any number."""
    legs = (*call.legs, *(past.leg for past in call.ended_legs))
    by_agent = any(leg.agent_id and call_of(leg.id) is None for leg in legs)
    return call.direction == "inbound" and not by_agent
