"""Every party is judged before it is called: an account's terms, remembered for a moment.

An account without terms may call anybody. Terms are put anew, never taken away: those that are
known hold while the store is down, and when it has lost them, until they are there again.
"""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from engine.calls.model.call import Call
from engine.runtime.admission.limits import is_by_trunk
from engine.runtime.base.ports import Refusal, Verdict
from engine.runtime.base.ttl_cache import FRESH_MS, Remembered
from engine.runtime.policy.permitted import full_numbers, is_allowed, shown
from engine.store.dial_policy import TermsStore
from engine.store.errors import StoreDown
from wire.dial_policy import Terms

log = structlog.get_logger()
NONE = Terms()


class TermsBook:
    """Judges by what the store has, at once where that is remembered and needs no list."""

    def __init__(
        self,
        kept: TermsStore,
        now_ms: Callable[[], int],
        caller_id: str = "",
        fresh_ms: int = FRESH_MS,
    ) -> None:
        self._kept = kept
        self._caller_id = caller_id  # of accounts without a number
        self._terms = Remembered(self._read, now_ms, fresh_ms)
        self._tasks: set[asyncio.Task[None]] = set()

    def judge(
        self, call: Call, party: str, caller_id: str, done: Callable[[Verdict], None]
    ) -> None:
        """Give `done` the verdict on a party that a call is about to call, at once or later."""
        if not is_by_trunk(party):
            done(Verdict("", caller_id))
            return
        known = self._terms.fresh(call.account)
        terms = known.value if known else None
        if terms is NONE:
            done(Verdict("", caller_id))
        elif terms is not None and (not terms.do_not_call or not is_allowed(terms, party)):
            refusal: Refusal = "" if is_allowed(terms, party) else "not_allowed"
            done(Verdict(refusal, self._shown(terms, call, caller_id)))
        else:
            task = asyncio.get_running_loop().create_task(
                self._judged(call, party, caller_id, done)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def refusal(self, account: str, party: str) -> Refusal:
        """Tell why a party may not be called; empty when it may."""
        if not is_by_trunk(party):
            return ""
        terms = await self._known(account)
        if terms is None:
            return "terms_unknown"
        if not is_allowed(terms, party):
            return "not_allowed"
        return await self._by_list(account, terms, party) if terms.do_not_call else ""

    def learn(self, account: str, terms: Terms) -> None:
        """Judge by terms that were stored just now."""
        self._terms.learn(account, terms)

    async def close(self) -> None:
        """Leave what is being read: recovery asks again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _judged(
        self, call: Call, party: str, caller_id: str, done: Callable[[Verdict], None]
    ) -> None:
        refusal = await self.refusal(call.account, party)
        known = self._terms.last(call.account)
        terms = known.value if known else NONE
        done(Verdict(refusal, self._shown(terms, call, caller_id)))

    def _shown(self, terms: Terms, call: Call, caller_id: str) -> str:
        return shown(terms, call, caller_id, self._caller_id)

    async def _known(self, account: str) -> Terms | None:
        """Give an account's terms, the last that were known if need be; None: none ever were."""
        try:
            return await self._terms.get(account)
        except (StoreDown, msgspec.DecodeError) as error:
            log.warning("terms not read", account=account, error=str(error))
        last = self._terms.last(account)
        return last.value if last else None

    async def _read(self, account: str) -> Terms:
        body = await self._kept.get(account)
        if body is not None:
            return msgspec.json.decode(body, type=Terms)
        last = self._terms.last(account)
        return last.value if last else NONE

    async def _by_list(self, account: str, terms: Terms, party: str) -> Refusal:
        numbers = full_numbers(party, terms.country)
        if not numbers:
            return ""
        try:
            listed = await self._kept.listed(account, numbers)
        except StoreDown as error:
            log.warning("do-not-call list not read", account=account, error=str(error))
            return "terms_unknown"
        if listed is None:
            log.warning("do-not-call list not there", account=account)
            return "terms_unknown"
        return "do_not_call" if listed else ""
