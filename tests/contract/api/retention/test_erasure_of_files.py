"""An erasure deletes downloads with their jobs, and reports what ends while it searches."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import sqlalchemy as sa
from msgspec.structs import replace

from api.contacts.erasure import ContactErasure
from api.jobs.store import jobs
from api.jobs.worker import Worker
from api.retention.erasure import Erasure
from api.transcripts.store import SpokenTexts, TranscriptSegment, TranscriptStore, pack, transcripts
from tests.harness.api.cdrs.records import record, write_calls
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.rest import Rest
from wire.erasure import NumberMatcher

PERSON = "+4790000007"
REQUESTS = f"{BASE}/download-requests"
RUNNING = {
    "id": "j", "account_id": "acme", "kind": "x", "state": "running", "payload": {},
    "done": 0, "attempts": 1, "due_ms": 0, "created_ms": 0,
}  # fmt: skip
IN_PROGRESS = "1 {} are in progress: repeat this when they {}"

Step = Callable[[], Awaitable[Any]]


class ContactsThen(ContactErasure, frozen=True):
    """Removes contacts; then something happens."""

    then: Step

    async def erase(self, account_id: str, matcher: NumberMatcher) -> Counter[str]:
        """Remove them."""
        removed = await ContactErasure.erase(self, account_id, matcher)
        await self.then()
        return removed


class TranscriptsThen(TranscriptStore, frozen=True):
    """Reads transcripts; then something happens."""

    then: Step

    async def texts_after(self, account_id: str, path: str, limit: int) -> list[SpokenTexts]:
        """Read a page."""
        page = await TranscriptStore.texts_after(self, account_id, path, limit)
        await self.then()
        return page


def erasure_of(rest: Rest) -> Erasure:
    return rest.services.erasure


async def download(rest: Rest, name: str) -> str:
    """Start a download of the contacts of a list; return its path."""
    list_id = await a_list(rest.services, name=name)
    await contacts_in(rest.services, list_id, *some(3))
    body = {"contactListId": list_id, "format": "csv"}
    return f"{REQUESTS}/{(await rest.request('POST', REQUESTS, body)).json()['id']}"


async def export(rest: Rest, **filters: str) -> str:
    """Start an export of call records; return its path."""
    levels = {f"dispositionLevel{each}Id": "" for each in (1, 2, 3)}
    query = {"dialedNumber": "", "limit": "1000", **levels, **filters}
    answer = await rest.request("POST", "/srmain/cdr/export", {"format": "csv"}, params=query)
    return f"/srmain/cdr/exports/{answer.json()['exportId']}"


async def run_jobs(rest: Rest) -> None:
    handlers = {**rest.services.contacts.jobs, **rest.services.cdrs.jobs}
    while await Worker(rest.services.jobs, handlers, rest.services.metrics).once():
        pass


async def statuses(rest: Rest, *paths: str) -> list[int]:
    """Return the statuses of downloads, and of their files."""
    every = (*paths, *(f"{each}/download" for each in paths))
    return [(await rest.request("GET", each)).status_code for each in every]


async def test_downloads_end_with_their_files(rest: Rest) -> None:
    """They are not found, as after a week, instead of empty files."""
    await write_calls(rest.services.database, record(0))
    paths = [await download(rest, "Spring"), await export(rest)]
    await run_jobs(rest)
    assert await statuses(rest, *paths) == [200] * 4
    report = await erasure_of(rest).erase("acme", PERSON)
    assert (report.removed["downloads"], report.left) == (2, [])
    assert await statuses(rest, *paths) == [404] * 4
    assert (await rest.request("GET", REQUESTS)).json()["total"] == 0
    assert (await rest.request("GET", "/srmain/jobs")).json()["total"] == 0


async def test_downloads_that_name_the_person(rest: Rest) -> None:
    """They are deleted, also while another job keeps the files; the others can be read."""
    named = [await download(rest, f"Friends of {PERSON}"), await export(rest, dialedNumber=PERSON)]
    other = await download(rest, "Spring")
    await run_jobs(rest)
    await rest.services.database.execute(sa.insert(jobs).values(RUNNING))
    report = await erasure_of(rest).erase("acme", PERSON)
    assert report.left == [IN_PROGRESS.format("jobs", "have ended")]
    assert report.removed["jobs"] == 2
    assert await statuses(rest, *named, other) == [404, 404, 200] * 2
    assert (await rest.request("GET", REQUESTS)).json()["total"] == 1


async def test_a_job_that_ends_meanwhile(rest: Rest) -> None:
    """An import may have written the person behind the search."""
    database = rest.services.database
    await database.execute(sa.insert(jobs).values(RUNNING))

    async def end() -> None:
        await database.execute(sa.update(jobs).values(state="done", ended_ms=1))

    tags = rest.services.contacts.tags.tags
    erasure = replace(erasure_of(rest), contacts=ContactsThen(database, tags, end))
    assert (await erasure.erase("acme", PERSON)).left == [IN_PROGRESS.format("jobs", "have ended")]
    assert (await erasure.erase("acme", PERSON)).left == []


async def test_a_transcript_that_ends_meanwhile(rest: Rest) -> None:
    """It was searched before it was written."""
    database = rest.services.database
    await write_calls(database, record(0))
    row = {
        "account_id": "acme",
        "path": "2026-11-21/0.wav",
        "call_id": record(0).call_id,
        "state": "running",
        "channels_done": 1,
        "segments": pack([]),
        **dict.fromkeys(("attempts", "turn", "due_ms", "created_ms"), 0),
    }
    await database.execute(sa.insert(transcripts).values(row))

    async def end() -> None:
        segments = pack([TranscriptSegment("main", 0, 1, PERSON, 0.9)])
        done = {"state": "done", "ended_ms": 1, "segments": segments}
        await database.execute(sa.update(transcripts).values(done))

    erasure = erasure_of(rest)
    calls = replace(erasure.calls, transcripts=TranscriptsThen(database, end))
    racing = replace(erasure, calls=calls)
    report = await racing.erase("acme", PERSON)
    assert report.left == [IN_PROGRESS.format("transcripts", "are done")]
    report = await racing.erase("acme", PERSON)
    assert (report.left, report.removed["call records"]) == ([], 1)


async def test_jobs_in_progress(kept: Rest) -> None:
    """An import could bring the person back: the report says so."""
    database = kept.services.database
    await database.execute(sa.insert(jobs).values(RUNNING))
    report = await erasure_of(kept).erase("acme", PERSON)
    assert report.left == [IN_PROGRESS.format("jobs", "have ended")]
    done = {"state": "done", "ended_ms": 1, "payload": {"number": PERSON}}
    await database.execute(sa.update(jobs).values(done))
    report = await erasure_of(kept).erase("acme", PERSON)
    assert (report.left, report.removed["jobs"]) == ([], 1)
    assert await database.scalar(sa.select(jobs.c.payload)) == {}
