"""Exports over HTTP: start, background job, download; no cell is a formula."""

import csv
import io
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from api.cdrs.exports import KIND
from api.jobs.artifacts import RETENTION_MS
from api.jobs.store import Job
from api.jobs.worker import PermanentFailure, Progress, Worker
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import NOON_MS, leg, missed, record, write_calls
from tests.harness.api.serving import Served, serve_rest
from wire.party import Diversion

EXPORT = "/srmain/cdr/export"


class Hand:
    """A clock that the test sets."""

    now = NOON_MS

    def __call__(self) -> int:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Hand:
    """Provide a clock."""
    return Hand()


@pytest.fixture
async def rest(database_url: str, clock: Hand) -> AsyncIterator[Served]:
    """Run the REST layer."""
    async with serve_rest(database_url, clock=clock) as found:
        yield found


async def made(rest: Served, body: object = None, **query: object) -> str:
    """Run an export and return the downloaded text."""
    status, export = await rest.request("POST", EXPORT, "acme", body, **{**REQUIRED, **query})
    assert (status, export["state"]) == (200, "waiting"), export
    path = f"/srmain/cdr/exports/{export['exportId']}"
    assert (await rest.request("GET", f"{path}/download"))[0] == 409
    assert await Worker(rest.services.jobs, rest.services.cdrs.jobs, rest.services.metrics).once()
    _, done = await rest.request("GET", path)
    assert (done["state"], done["rows"]) == ("done", done["total"])
    assert (await rest.request("GET", path, "other"))[0] == 404
    assert (await rest.request("GET", f"{path}/download", "other"))[0] == 404
    address, headers = rest.url + done["downloadPath"], rest.headers("acme")
    async with rest.http.head(address, headers=headers) as head:
        assert (head.status, await head.read()) == (200, b"")
    async with rest.http.get(address, headers=headers) as got:
        assert got.status == 200
        assert got.headers["Content-Disposition"] == head.headers["Content-Disposition"]
        assert "attachment" in got.headers["Content-Disposition"]
        return await got.text()


async def test_csv_has_what_the_list_has(rest: Served) -> None:
    """The file has the matching records, newest first, ten by default."""
    await write_calls(
        rest.services.database, *(record(n, after_ms=n) for n in range(12)), missed(99)
    )
    lines = list(csv.DictReader(io.StringIO(await made(rest))))
    assert [line["reqId"] for line in lines] == [record(n).call_id for n in range(11, 1, -1)]
    lines = list(csv.DictReader(io.StringIO(await made(rest, answerStatus="missed"))))
    assert [(line["answerStatus"], line["talkMs"]) for line in lines] == [("missed", "0")]
    assert (lines[0]["answeredDurationMs"], lines[0]["answeredDuration"]) == ("", "")
    lines = list(csv.DictReader(io.StringIO(await made(rest, offset=10, limit=100))))
    assert [line["reqId"][-2:] for line in lines] == ["01", "99", "00"]
    assert "timeline" not in lines[0]


async def test_the_progress_of_an_export(rest: Served) -> None:
    """Its total is what will be written: the rows after the offset, up to the limit."""
    await write_calls(rest.services.database, *(record(n, after_ms=n) for n in range(12)))
    shown = list[tuple[int, int | None]]()

    async def observed(job: Job, progress: Progress) -> dict[str, Any]:
        async def observe(done: int, total: int | None) -> None:
            shown.append((done, total))
            await progress(done, total)

        return await rest.services.cdrs.jobs[KIND](job, observe)

    for query in ({"limit": 100, "offset": 5}, {"limit": 3}, {"offset": 20}):
        await rest.request("POST", EXPORT, "acme", None, **{**REQUIRED, **query})
        assert await Worker(rest.services.jobs, {KIND: observed}, rest.services.metrics).once()
    assert shown == [(0, 7), (7, 7), (0, 3), (3, 3), (0, 0)]


async def test_an_export_that_fails_has_a_reason(rest: Served) -> None:
    """It has no file then."""

    async def failed(_job: Job, _progress: Progress) -> dict[str, Any]:
        raise PermanentFailure("planted")

    _, export = await rest.request("POST", EXPORT, "acme", None, **REQUIRED)
    assert await Worker(rest.services.jobs, {KIND: failed}, rest.services.metrics).once()
    path = f"/srmain/cdr/exports/{export['exportId']}"
    _, shown = await rest.request("GET", path)
    assert (shown["state"], shown["error"]) == ("failed", "planted")
    assert not {"downloadPath", "expiresTime"} & shown.keys()
    assert shown["endedTime"]
    assert (await rest.request("GET", f"{path}/download"))[0] == 409


async def test_csv_has_the_caller_and_diversion(rest: Served) -> None:
    """`divertedFrom` lists the numbers that forwarded the call, the first one first."""
    diversion = (Diversion("+4711111111", "no-answer"), Diversion("+4722222222"))
    call = record(1, privacy=True, diversion=diversion)
    await write_calls(rest.services.database, call, record(2, after_ms=-1, caller_name="Åse"))
    withheld, other = csv.DictReader(io.StringIO(await made(rest)))
    assert (withheld["privacy"], withheld["divertedFrom"]) == ("true", "'+4711111111 +4722222222")
    assert (other["privacy"], other["divertedFrom"]) == ("false", "")
    assert (withheld["callerName"], other["callerName"]) == ("", "Åse")


async def test_json_lines_are_records(rest: Served) -> None:
    """The lines equal the list's records, and have timelines on request."""
    await write_calls(rest.services.database, record(1), record(2))
    body = {"format": "jsonl", "includeTimeline": True}
    lines = [msgspec.json.decode(line) for line in (await made(rest, body)).splitlines()]
    assert [len(line.pop("timeline")) for line in lines] == [3, 3]
    assert lines == (await rest.request("GET", "/srmain/cdr", **REQUIRED))[1]["data"]


async def test_nothing_is_a_formula(rest: Served) -> None:
    """Customer text is escaped; numbers stay numbers."""
    nina = leg("agent:7", agent_id="7", agent_name='=HYPERLINK("http://evil")')
    labels = {"clientId": "@SUM(1)", "obdType": "-2+3", "callPath": 'a,"b"\tc'}
    call = record(1, legs=(nina,), labels=labels, reason="+cmd|' /C calc'!A0")
    await write_calls(rest.services.database, call)
    (line,) = csv.DictReader(io.StringIO(await made(rest)))
    assert line["agentNames"] == '\'=HYPERLINK("http://evil")'
    assert (line["clientId"], line["obdType"]) == ("'@SUM(1)", "'-2+3")
    assert line["reason"] == "'+cmd|' /C calc'!A0"
    assert (line["callPath"], line["callerId"]) == ('a,"b"c', "+4721930000")


async def test_an_export_is_a_snapshot(rest: Served) -> None:
    """It excludes later records and those of other accounts."""
    await write_calls(rest.services.database, record(1), record(2, account_id="other"))
    query = {**REQUIRED, "limit": 100}
    _, export = await rest.request("POST", EXPORT, "acme", {"format": "jsonl"}, **query)
    await write_calls(rest.services.database, record(3))
    assert await Worker(rest.services.jobs, rest.services.cdrs.jobs, rest.services.metrics).once()
    url = f"{rest.url}/srmain/cdr/exports/{export['exportId']}/download"
    async with rest.http.get(url, headers=rest.headers("acme")) as got:
        assert [msgspec.json.decode(line)["reqId"] for line in (await got.read()).splitlines()] == [
            record(1).call_id
        ]


async def test_exports_have_limits(rest: Served, clock: Hand) -> None:
    """An account has at most ten unfinished exports; an export is kept for a week."""
    ids = []
    for _ in range(10):
        status, export = await rest.request("POST", EXPORT, **REQUIRED)
        assert status == 200
        ids.append(export["exportId"])
    assert (await rest.request("POST", EXPORT, **REQUIRED))[0] == 429
    assert (await rest.request("POST", EXPORT, "other", **REQUIRED))[0] == 200
    clock.now += RETENTION_MS + 1
    assert (await rest.request("GET", f"/srmain/cdr/exports/{ids[0]}"))[0] == 404
    assert await rest.faults("POST", EXPORT, {"format": "pdf"}, **REQUIRED) == {"format"}
    assert await rest.faults("POST", EXPORT, {"includeTimeline": 1}, **REQUIRED) == {
        "includeTimeline"
    }
    assert await rest.faults("POST", EXPORT, **{**REQUIRED, "limit": 5_000_001}) == {"limit"}


async def test_an_export_of_nothing(rest: Served) -> None:
    """An empty export has a header line."""
    (names,) = csv.reader(io.StringIO(await made(rest, {"includeTimeline": True})))
    assert (names[0], names[-1]) == ("reqId", "timeline")


async def test_a_repeated_request_starts_no_second_export(rest: Served) -> None:
    """The same key and filters get the first response; other filters are another request."""
    headers = {**rest.headers("acme"), "Idempotency-Key": "export-1"}

    async def start(**query: str) -> tuple[int, Any]:
        words = {name: str(value) for name, value in {**REQUIRED, **query}.items()}
        url, body = f"{rest.url}{EXPORT}", {"format": "csv"}
        async with rest.http.post(url, params=words, json=body, headers=headers) as reply:
            return reply.status, await reply.json(content_type=None)

    first = await start()
    assert first[0] == 200
    assert await start() == first
    status, problem = await start(answerStatus="answered")
    assert (status, problem["code"]) == (400, "idempotency_key_reused")
