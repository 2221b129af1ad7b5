"""Every party is judged before it is called: an account's terms, remembered for a moment.

An account without terms may call anybody. Terms are replaced, never removed: those that are
known hold while the store is down, and when it has lost them, until they are there again.
"""

import asyncio
import re
from collections.abc import Callable, Iterator

import msgspec
import structlog

from engine.calls.model.call import Call
from engine.calls.model.ids import call_of
from engine.calls.model.party import is_by_trunk
from engine.runtime.base.ports import DialDecision, DialRefusal
from engine.runtime.base.ttl_cache import DEFAULT_TTL_MS, TtlCache
from engine.store.dial_policy import DialPolicyStore
from engine.store.errors import StoreDown
from wire.dial_policy import AccountDialPolicy

log = structlog.get_logger()
NO_TERMS = AccountDialPolicy()


class DialPolicy:
    """Judges by what the store has, at once where that is remembered and needs no list."""

    def __init__(
        self,
        kept: DialPolicyStore,
        now_ms: Callable[[], int],
        caller_id: str = "",
        fresh_ms: int = DEFAULT_TTL_MS,
    ) -> None:
        self._kept = kept
        self._caller_id = caller_id  # of accounts without a number
        self._terms = TtlCache(self._read, now_ms, fresh_ms)
        self._tasks: set[asyncio.Task[None]] = set()

    def authorize(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        """Give `done` the verdict on a party that a call is about to call, at once or later."""
        if not is_by_trunk(party):
            done(DialDecision("", caller_id))
            return
        known = self._terms.get_fresh(call.account)
        terms = known.value if known else None
        if terms is NO_TERMS:
            done(DialDecision("", caller_id))
        elif terms is not None and (not terms.do_not_call or not is_allowed(terms, party)):
            refusal: DialRefusal = "" if is_allowed(terms, party) else "not_allowed"
            done(DialDecision(refusal, self._shown(terms, call, caller_id)))
        else:
            task = asyncio.get_running_loop().create_task(
                self._judged(call, party, caller_id, done)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def refusal(self, account: str, party: str) -> DialRefusal:
        """Tell why a party may not be called; empty when it may."""
        if not is_by_trunk(party):
            return ""
        terms = await self._known(account)
        if terms is None:
            return "terms_unknown"
        if not is_allowed(terms, party):
            return "not_allowed"
        return await self._by_list(account, terms, party) if terms.do_not_call else ""

    def update(self, account: str, terms: AccountDialPolicy) -> None:
        """Judge by terms that were stored just now."""
        self._terms.put(account, terms)

    async def close(self) -> None:
        """Leave what is being read: recovery asks again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _judged(
        self, call: Call, party: str, caller_id: str, done: Callable[[DialDecision], None]
    ) -> None:
        refusal = await self.refusal(call.account, party)
        known = self._terms.get_stale(call.account)
        terms = known.value if known else NO_TERMS
        done(DialDecision(refusal, self._shown(terms, call, caller_id)))

    def _shown(self, terms: AccountDialPolicy, call: Call, caller_id: str) -> str:
        return allowed_caller_id(terms, call, caller_id, self._caller_id)

    async def _known(self, account: str) -> AccountDialPolicy | None:
        """Give an account's terms, the last that were known if need be; None: none ever were."""
        try:
            return await self._terms.get(account)
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("terms not read", account=account, error=str(error))
        last = self._terms.get_stale(account)
        return last.value if last else None

    async def _read(self, account: str) -> AccountDialPolicy:
        body = await self._kept.get(account)
        if body is not None:
            return msgspec.json.decode(body, type=AccountDialPolicy)
        last = self._terms.get_stale(account)
        return last.value if last else NO_TERMS

    async def _by_list(self, account: str, terms: AccountDialPolicy, party: str) -> DialRefusal:
        numbers = full_numbers(party, terms.country)
        if not numbers:
            return ""
        try:
            listed = await self._kept.is_listed(account, numbers)
        except StoreDown as error:
            log.warning("do-not-call list not read", account=account, error=str(error))
            return "terms_unknown"
        if listed is None:
            log.warning("do-not-call list not there", account=account)
            return "terms_unknown"
        return "do_not_call" if listed else ""


_SEPARATORS = re.compile(r"[-.]")
_DIGITS = re.compile(r"\+?[0-9]{2,20}")
# A service's code before a number, a sign that ends it, digits that are sent after it.
_PARTS = re.compile(r"[*#]+|(?=\+)")
_INTERNATIONAL_PREFIXES = (
    "00",
    "011",
    "0011",
    "010",
    "810",
)  # as it is dialled here and there (ITU-T E.164D)
# Where a country's code ends (ITU-T E.164D); behind it the zero of calls at home is left out.
_TRUNK_ZERO = re.compile(
    r"(\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[035789]|9[679])[0-9]))0([0-9]{4,})"
)


def is_allowed(terms: AccountDialPolicy, party: str) -> bool:
    """Tell whether a party may be called as far as prefixes say."""
    return terms.destinations is None or party.startswith(terms.destinations)


def full_numbers(party: str, country: str) -> tuple[str, ...]:
    """Give the numbers with their countries that a party may stand for; none for a name.

    A list has +4721930000: it is meant by 004721930000, sip:+4721930000@host, 4721930000, in
    Norway by 21930000, and by *31*21930000 and +4721930000#, too.
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


def allowed_caller_id(terms: AccountDialPolicy, call: Call, caller_id: str, otherwise: str) -> str:
    """Give what may be shown: the caller id, or else the account's first number.

    Who calls in may be shown to those that are called for it: the account did not choose that.
    """
    if terms.numbers is None or not caller_id:
        return caller_id
    number = f"+{caller_id.removeprefix('+')}"
    if number in terms.numbers or (caller_id == call.from_ and _is_from_outside(call)):
        return caller_id
    return next(iter(terms.numbers), otherwise)


def _is_from_outside(call: Call) -> bool:
    """Tell whether somebody called in who is no agent: an agent's phone may say what it likes."""
    legs = (*call.legs, *(past.leg for past in call.ended_legs))
    by_agent = any(leg.agent_id and call_of(leg.id) is None for leg in legs)
    return call.direction == "inbound" and not by_agent
