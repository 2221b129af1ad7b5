"""Erases a person: removes all that is stored about a number, and reports what was removed."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Self

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace

from api.accounts.cache import AccountCache
from api.audit.trail import entries
from api.cdrs.exports import KIND as CALL_RECORDS
from api.cdrs.removal import FIRST, FIRST_EVENT, CdrRemoval, StoredCall
from api.contacts.erasure import ContactErasure
from api.contacts.exports.job import KIND as CONTACTS
from api.contacts.exports.store import delete_jobs
from api.contacts.quotas import ContactQuotas
from api.contacts.tags import TagStore
from api.db.database import Database
from api.dnc.store import entries as dnc_entries
from api.engine_client import EngineClient
from api.http.idempotency import responses
from api.http.services import CommonServices
from api.jobs.store import jobs
from api.retention.calls import CallRemoval
from wire.decoding.errors import BadInput
from wire.erasure import EraseNumber, ErasureResult, NumberMatcher
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber
from wire.views import Calls

PAGE_SIZE = 500
DOWNLOADS = (CALL_RECORDS, CONTACTS)


class JobErasure(Struct, frozen=True):
    """Removes a person from background jobs, and an account's downloads: jobs with files."""

    database: Database

    async def ended(self, account_id: str) -> frozenset[str]:
        """Return the ids of an account's jobs that have ended."""
        query = sa.select(jobs.c.id).where(*_has_ended(account_id))
        return frozenset(job_id for (job_id,) in await self.database.rows(query))

    async def count_others(self, account_id: str, ended: frozenset[str]) -> int:
        """Count the jobs that had not ended: they may have read or written the person since."""
        query = sa.select(jobs.c.id).where(jobs.c.account_id == account_id)
        return sum(job_id not in ended for (job_id,) in await self.database.rows(query))

    async def erase(self, account_id: str, matcher: NumberMatcher) -> int:
        """Remove what jobs that have ended were asked and have answered.

        Downloads are deleted: what they were asked is part of each answer about them.
        """
        columns = (jobs.c.id, jobs.c.kind, jobs.c.payload, jobs.c.result)
        query = sa.select(*columns).where(*_has_ended(account_id))
        found = [
            (job_id, kind)
            for job_id, kind, *texts in await self.database.rows(query)
            if matcher.is_in_json(msgspec.json.encode(texts))
        ]
        await self._delete(job_id for job_id, kind in found if kind in DOWNLOADS)
        for job_id in (job_id for job_id, kind in found if kind not in DOWNLOADS):
            change = sa.update(jobs).where(jobs.c.id == job_id)
            await self.database.execute(change.values(payload={}, result=None))
        return len(found)

    async def erase_downloads(self, account_id: str) -> int:
        """Delete the downloads that have ended, with their jobs, as those that have expired."""
        is_download = jobs.c.kind.in_(DOWNLOADS)
        query = sa.select(jobs.c.id).where(is_download, *_has_ended(account_id))
        found = [job_id for (job_id,) in await self.database.rows(query)]
        await self._delete(found)
        return len(found)

    async def _delete(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            await delete_jobs(self.database, [job_id])


def _ignore(_text: str) -> None:
    pass


class ErasureReport(Struct, frozen=True):
    """What was removed, by kind; what is kept, and why; and what could not be removed yet.

    `searched` is the number of call records that were looked at.
    """

    searched: int
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
    jobs: JobErasure

    @classmethod
    def build(cls, common: CommonServices) -> Self:
        database = common.database
        return cls(
            database,
            common.engine,
            common.account_cache,
            CdrRemoval(database),
            CallRemoval.build(common),
            ContactErasure(database, TagStore(database, ContactQuotas(database))),
            JobErasure(database),
        )

    async def erase(
        self, account_id: str, number: str, on_progress: Callable[[str], None] = _ignore
    ) -> ErasureReport:
        """Remove a number from an account; raises NotFound, BadInput, ServiceUnavailable.

        `on_progress` is called with how far engines are.
        """
        region = (await self.accounts.get(account_id)).region
        matcher = matcher_of(number, region)
        # What ends during the search is in no page of it, and was not searched.
        ended = await self.jobs.ended(account_id)
        unfinished = await self.calls.transcripts.unfinished(account_id)
        live = await self._live_calls(account_id)
        left = [_is_live(each) for each, view in live.items() if matcher.is_in_json(view)]
        removed = await self._erase_in_engines(account_id, matcher, left, on_progress)
        searched, of_calls = await self._erase_calls(account_id, matcher, live.keys(), left)
        removed += of_calls
        removed += await self.contacts.erase(account_id, matcher)
        removed["stored responses"] += await self._erase_responses(account_id, matcher)
        removed["jobs"] += await self.jobs.erase(account_id, matcher)
        if count := await self._count_transcripts(account_id, unfinished):
            left.append(f"{count} transcripts are in progress: repeat this when they are done")
        if count := await self.jobs.count_others(account_id, ended):
            left.append(f"{count} jobs are in progress: repeat this when they have ended")
        else:
            # Copies that are compressed: lists and records can be exported again.
            removed["uploaded files"] += await self.contacts.erase_uploads(account_id)
            removed["downloads"] += await self.jobs.erase_downloads(account_id)
        return ErasureReport(searched, removed, await self._kept(account_id, matcher), left)

    async def _count_transcripts(self, account_id: str, before: frozenset[str]) -> int:
        """Count the transcripts in progress, now or before the search; not those removed by it."""
        store = self.calls.transcripts
        return len(await store.unfinished(account_id) | await store.stored(account_id, before))

    async def _live_calls(self, account_id: str) -> dict[str, bytes]:
        """Return each live call's view, as JSON."""
        found = await self.engine.request(Calls, "GET", "/calls", query={"account": account_id})
        return {each.call_id: msgspec.json.encode(each) for each in found.calls}

    async def _erase_in_engines(
        self,
        account_id: str,
        matcher: NumberMatcher,
        left: list[str],
        on_progress: Callable[[str], None],
    ) -> Counter[str]:
        removed = Counter[str]()
        request = EraseNumber(account_id, matcher.number, matcher.region)
        while True:
            erased = await self.engine.request(ErasureResult, "POST", "/erasures", request)
            removed["calls in the store"] += erased.ended_calls
            removed["undelivered events"] += erased.events + erased.dead_letters
            removed["logged requests"] += erased.attempts
            removed["cached prompts"] += erased.prompts
            if erased.silent_engines:
                left.append(f"{erased.silent_engines} engines do not answer: repeat this")
            if erased.next_shard is None:
                return removed
            on_progress(f"continues at shard {erased.next_shard}: {removed.total()} removed")
            request = replace(request, shard=erased.next_shard, cursor=erased.next_cursor)

    async def _erase_calls(
        self, account_id: str, matcher: NumberMatcher, live: AbstractSet[str], left: list[str]
    ) -> tuple[int, Counter[str]]:
        """Remove calls that have the number: in record, row, events or transcripts.

        Return how many were seen.
        """
        searched, removed = 0, Counter[str]()
        mentioned = await self._calls_with_events(account_id, matcher)
        mentioned |= await self._calls_with_transcripts(account_id, matcher)
        live |= (await self._live_calls(account_id)).keys()  # also those that began meanwhile
        unrecorded = set(mentioned)
        async for call, texts in self._calls(account_id):
            searched += 1
            unrecorded.discard(call.req_id)
            is_found = call.req_id in mentioned or matcher.is_in_json(call.record)
            if not is_found and not any(map(matcher.is_in, texts)):
                continue
            recordings = await self.calls.remove(call)
            if recordings is None:
                left.append(f"a recording of call {call.req_id} is not archived yet: repeat this")
                continue
            removed["call records"] += 1
            removed["recordings"] += recordings
        left += sorted({_is_live(each) for each in unrecorded & live}.difference(left))
        removed += await self._erase_unrecorded(account_id, unrecorded - live, left)
        return searched, removed

    async def _erase_unrecorded(
        self, account_id: str, call_ids: AbstractSet[str], left: list[str]
    ) -> Counter[str]:
        removed = Counter[str]()
        for call_id in call_ids:
            if await self.calls.cdrs.get(account_id, call_id) is not None:
                left.append(f"call {call_id} has ended meanwhile: repeat this")
                continue
            removed["events of calls"] += await self.removal.remove_events(account_id, call_id)
            removed["transcripts"] += await self.calls.transcripts.remove_call(account_id, call_id)
        return removed

    async def _calls_with_events(self, account_id: str, matcher: NumberMatcher) -> set[str]:
        found, after = set[str](), FIRST_EVENT
        while page := await self.removal.events_after(account_id, after, PAGE_SIZE):
            found |= {each.call_id for each in page if matcher.is_in_json(each.body)}
            after = page[-1].position
        return found

    async def _calls_with_transcripts(self, account_id: str, matcher: NumberMatcher) -> set[str]:
        found, after = set[str](), ""
        while page := await self.calls.transcripts.texts_after(account_id, after, PAGE_SIZE):
            found |= {each.call_id for each in page if any(map(matcher.is_in, each.texts))}
            after = page[-1].path
        return found

    async def _calls(self, account_id: str) -> AsyncIterator[tuple[StoredCall, Sequence[str]]]:
        """Yield calls with the texts in their rows."""
        after = FIRST
        while found := await self.removal.calls_after(account_id, after, PAGE_SIZE):
            texts = await self.removal.texts_of(found)
            for call in found:
                yield call, texts.get(call.id, ())
            after = found[-1].position

    async def _erase_responses(self, account_id: str, matcher: NumberMatcher) -> int:
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
        return len(keys)

    async def _kept(self, account_id: str, matcher: NumberMatcher) -> dict[str, int]:
        listed = sa.select(sa.func.count()).where(
            dnc_entries.c.account_id == account_id, dnc_entries.c.number == matcher.number
        )
        return {
            "do-not-call entries": int(await self.database.scalar(listed)),
            "audit entries": await self._count_audited(account_id, matcher),
        }

    async def _count_audited(self, account_id: str, matcher: NumberMatcher) -> int:
        count, after = 0, 0
        page = sa.select(entries.c.id, entries.c.object).order_by(entries.c.id).limit(PAGE_SIZE)
        of_account = page.where(entries.c.account_id == account_id)
        while rows := await self.database.rows(of_account.where(entries.c.id > after)):
            count += sum(matcher.is_in(text) for _, text in rows)
            after = rows[-1][0]
        return count


def _is_live(call_id: str) -> str:
    return f"call {call_id} is live: repeat this when it has ended"


def matcher_of(number: str, region: str | None) -> NumberMatcher:
    """Return what finds a number; raises BadInput if it is none."""
    try:
        return NumberMatcher(e164(number, region), region)
    except InvalidNumber as error:
        raise BadInput("number", str(error)) from None


def _has_ended(account_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return jobs.c.account_id == account_id, jobs.c.ended_ms.is_not(None)
