"""Erases a person: removes all that is stored about a number, and reports what was removed."""

from collections import Counter
from collections.abc import AsyncIterator, Callable

import msgspec
import phonenumbers
import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace

from api.accounts.cache import AccountCache
from api.audit.trail import entries
from api.cdrs.removal import FIRST, CdrRemoval, StoredCall
from api.contacts.erasure import ContactErasure
from api.db.database import Database
from api.dnc.tables import entries as dnc_entries
from api.engine_client import EngineClient
from api.http.idempotency import responses
from api.jobs.tables import jobs
from api.retention.calls import CallRemoval
from wire.decoding.errors import BadInput
from wire.erasure import EraseNumber, ErasureResult, NumberMatcher
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber
from wire.views import Calls

PAGE_SIZE = 200


def _ignore(_text: str) -> None:
    pass


class ErasureReport(Struct, frozen=True):
    """What was removed, by kind; what is kept, and why; and what could not be removed yet."""

    removed: Counter[str]
    kept: dict[str, int]
    left: list[str]


class Erasure(Struct, frozen=True):
    """Each step can be repeated: what is left is removed by the next erasure."""

    database: Database
    engine: EngineClient
    accounts: AccountCache
    removal: CdrRemoval
    calls: CallRemoval
    contacts: ContactErasure

    async def erase(
        self, account_id: str, number: str, on_progress: Callable[[str], None] = _ignore
    ) -> ErasureReport:
        """Remove a number from an account; raises NotFound, BadInput, ServiceUnavailable.

        `on_progress` is called with how far engines are.
        """
        region = (await self.accounts.get(account_id)).region
        matcher = matcher_of(number, region)
        live = await self._live_calls(account_id, matcher)
        removed = await self._erase_in_engines(account_id, matcher, on_progress)
        left = [f"call {each} is live: repeat this when it has ended" for each in live]
        removed += await self._erase_calls(account_id, matcher, set(live), left)
        removed += await self.contacts.erase(account_id, matcher)
        removed += await self._erase_requests(account_id, matcher)
        if running := await self.contacts.unfinished_jobs(account_id):
            left.append(f"{running} jobs are in progress: repeat this when they have ended")
        else:
            removed += await self.contacts.erase_files(account_id)
        return ErasureReport(removed, await self._kept(account_id, matcher), left)

    async def _live_calls(self, account_id: str, matcher: NumberMatcher) -> list[str]:
        found = await self.engine.request(Calls, "GET", "/calls", query={"account": account_id})
        return [
            each.call_id for each in found.calls if matcher.is_in_json(msgspec.json.encode(each))
        ]

    async def _erase_in_engines(
        self, account_id: str, matcher: NumberMatcher, on_progress: Callable[[str], None]
    ) -> Counter[str]:
        removed = Counter[str]()
        request = EraseNumber(account_id, matcher.number, matcher.country, matcher.is_national)
        while True:
            erased = await self.engine.request(ErasureResult, "POST", "/erasures", request)
            removed["calls in the store"] += erased.ended_calls
            removed["undelivered events"] += erased.events + erased.dead_letters
            removed["logged requests"] += erased.attempts
            if erased.next_shard is None:
                return removed
            on_progress(f"continues at shard {erased.next_shard}: {removed.total()} removed")
            request = replace(request, shard=erased.next_shard, cursor=erased.next_cursor)

    async def _erase_calls(
        self, account_id: str, matcher: NumberMatcher, live: set[str], left: list[str]
    ) -> Counter[str]:
        removed = Counter[str]()
        async for call in self._calls(account_id, matcher):
            recordings = await self.calls.remove(call)
            if recordings is None:
                left.append(f"a recording of call {call.req_id} is not archived yet: repeat this")
                continue
            removed["call records"] += 1
            removed["recordings"] += recordings
        found = await self.removal.events_mentioning(account_id, matcher.needle)
        for call_id, bodies in found.items():
            if call_id not in live and any(map(matcher.is_in_json, bodies)):
                if await self._is_recorded(account_id, call_id):
                    continue  # of a call that is left
                removed["events of calls"] += await self.removal.remove_events(account_id, call_id)
        return removed

    async def _is_recorded(self, account_id: str, call_id: str) -> bool:
        return await self.calls.cdrs.get(account_id, call_id) is not None

    async def _calls(self, account_id: str, matcher: NumberMatcher) -> AsyncIterator[StoredCall]:
        after = FIRST
        while found := await self.removal.mentioning(account_id, matcher.needle, after, PAGE_SIZE):
            for call in found:
                if matcher.is_in_json(call.record):
                    yield call
            after = found[-1].position

    async def _erase_requests(self, account_id: str, matcher: NumberMatcher) -> Counter[str]:
        """Remove stored responses, and what jobs were asked and have answered."""
        stored = sa.select(responses.c.key, responses.c.response).where(
            responses.c.account_id == account_id, responses.c.response.is_not(None)
        )
        keys = [
            key
            for key, body in await self.database.rows(stored)
            if matcher.is_in_json(body) or matcher.is_in(key)
        ]
        for key in keys:
            is_it = (responses.c.account_id == account_id, responses.c.key == key)
            await self.database.execute(sa.delete(responses).where(*is_it))
        return Counter(
            {"stored responses": len(keys), "jobs": await self._empty_jobs(account_id, matcher)}
        )

    async def _empty_jobs(self, account_id: str, matcher: NumberMatcher) -> int:
        query = sa.select(jobs.c.id, jobs.c.payload, jobs.c.result).where(
            jobs.c.account_id == account_id, jobs.c.ended_ms.is_not(None)
        )
        found = [
            job_id
            for job_id, payload, result in await self.database.rows(query)
            if matcher.is_in_json(msgspec.json.encode([payload, result]))
        ]
        for job_id in found:
            change = sa.update(jobs).where(jobs.c.id == job_id)
            await self.database.execute(change.values(payload={}, result=None))
        return len(found)

    async def _kept(self, account_id: str, matcher: NumberMatcher) -> dict[str, int]:
        listed = sa.select(sa.func.count()).where(
            dnc_entries.c.account_id == account_id, dnc_entries.c.number == matcher.number
        )
        audited = sa.select(entries.c.object).where(
            entries.c.account_id == account_id, entries.c.object.contains(matcher.needle.decode())
        )
        objects = [text for (text,) in await self.database.rows(audited)]
        return {
            "do-not-call entries": int(await self.database.scalar(listed)),
            "audit entries": sum(map(matcher.is_in, objects)),
        }


def matcher_of(number: str, region: str | None) -> NumberMatcher:
    """Return what finds a number; raises BadInput if it is none."""
    try:
        full = e164(number, region)
    except InvalidNumber as error:
        raise BadInput("number", str(error)) from None
    parsed = phonenumbers.parse(full)
    code = str(parsed.country_code)
    home = str(phonenumbers.country_code_for_region(region)) if region else ""
    return NumberMatcher(full, code, code == home)
