"""M6: an account cannot use up what all accounts share."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.auth.sessions import CSRF_HEADER
from api.common.errors import Conflict
from api.common.token_buckets import Rate, TokenBuckets
from api.contacts.contacts.schemas import ContactRequest
from api.contacts.quotas import ContactLimits, ContactQuotas
from api.contacts.tables import contact_tags, contacts, files, lists, rejects
from api.contacts.tags import KIND as TAGS
from api.contacts.tags import MAX_SYNCHRONOUS, ManageTagsRequest, TagService, TagStore
from api.jobs.artifacts import job_parts
from api.jobs.store import jobs
from api.jobs.worker import Worker
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import record, write_calls
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import CUSTOMER, Rest, run_rest, settings_for
from tests.harness.api.templates.messaging import BASE as TEMPLATES
from tests.harness.api.templates.messaging import messaging
from tests.harness.rpc.scene import RpcScene

CSV = b"Phone,Name\n+4790000001,Ada\n+4790000002,Eve\n"
LIMITS: dict[str, Any] = {
    "max_contact_lists": 2,
    "max_contacts": 1,
    "max_stored_bytes": 1_024,
    "api_requests_per_s": 10,
}


@pytest.fixture
async def rest(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    settings = settings_for(sqlite_url(tmp_path), scene.url, **LIMITS)
    async with run_rest(settings, scene, ManualClock()) as made:
        yield made


async def test_the_rate_of_requests(rest: Rest) -> None:
    """One account's does not affect another's, and time restores it."""
    path = "/srmain/recordings"
    statuses = [(await rest.request("GET", path)).status_code for _ in range(21)]
    assert statuses == [200] * 19 + [429] * 2  # the token was one
    rejected = await rest.request("GET", path)
    assert (rejected.json()["code"], rejected.headers["retry-after"]) == ("request_rate", "1")
    others = await rest.token_of("other", "other")
    assert (await rest.request("GET", path, token=others)).status_code == 200
    rest.services.now_ms.now += 100  # type: ignore[attr-defined]  # a manual clock
    statuses = [(await rest.request("GET", path)).status_code for _ in range(2)]
    assert statuses == [200, 429]


@pytest.mark.parametrize(
    ("method", "path", "served"),
    [("GET", "/console/calls", 200), ("PUT", "/console/session", 204), ("GET", "/console", 303)],
)
async def test_a_console_session_counts_for_its_account(
    rest: Rest, method: str, path: str, served: int
) -> None:
    """So do its sign-in and the tokens of the account; a forged cookie counts for no account."""
    given = rest.credentials["acme"]
    pair = {"apiKey": given.api_key, "apiSecret": given.api_secret}
    signed_in = await rest.client.post("/console/session", json=pair)  # and the token of `rest`
    page = await rest.client.get("/console/calls")
    found = re.search(r'name="csrf-token" content="([^"]+)"', page.text)
    assert found
    headers = {CSRF_HEADER: found[1]}
    answers = [await rest.client.request(method, path, headers=headers) for _ in range(18)]
    assert [each.status_code for each in answers] == [served] * 17 + [429]
    assert signed_in.headers["ratelimit"].startswith('"requests";r=18')
    assert answers[-1].json()["code"] == "request_rate"
    for refused in ("/console/session", "/auth/get-access-token/acme"):
        assert (await rest.client.post(refused, json=pair)).status_code == 429
    name, cookie = next(iter(rest.client.cookies.items()))
    rest.client.cookies.clear()
    rest.client.cookies.set(name, cookie[:-8] + "AAAAAAAA")
    stranger = await rest.client.get("/console/calls")
    assert (stranger.status_code, "ratelimit" in stranger.headers) == (303, False)


def test_buckets() -> None:
    """A burst, then an even rate; a clock that is set back gives and takes nothing."""
    clock = ManualClock()
    buckets = TokenBuckets(Rate(2, 3), clock)
    assert [buckets.take("a") for _ in range(4)] == [True] * 3 + [False]
    clock.now += 500
    assert [buckets.take("a") for _ in range(2)] == [True, False]
    clock.now -= 3_600_000
    assert not buckets.take("a")
    clock.now += 500
    assert [buckets.take("a"), buckets.take("b")] == [True, True]
    clock.now += 60_000
    assert [buckets.take("a") for _ in range(4)] == [True] * 3 + [False]


async def test_contact_lists(rest: Rest) -> None:
    """An account's; another has its own."""
    body = {"name": "A", "description": ""}
    path = f"{BASE}/inbound-contact-list"
    for _ in range(2):
        await a_list(rest.services)
    assert (await rest.rejected("POST", path, body))[:2] == (409, "quota")
    others = await rest.token_of("other", "other")
    answer = await rest.request("POST", path, body, token=others)
    assert answer.is_success, answer.text


@pytest.mark.parametrize("content", [CSV, b"Phone,Name\n+4790000009,Ida\n"])
async def test_contacts_of_an_import(rest: Rest, content: bytes) -> None:
    """One that has too many rows does not start; one whose contacts are new ones fails."""
    made = (await upload(rest, content)).json()
    list_id = made["contactListId"]
    body = {"mappings": {"Phone": "phoneNumber"}}
    answer = await rest.request("POST", f"{BASE}/map-fields/{list_id}", body)
    assert answer.is_success, answer.text
    contact = {"contactListId": list_id, "phoneNumber": "+4790000001"}
    assert (await rest.request("POST", f"{BASE}/contactNumber", contact)).is_success
    process = f"{BASE}/process-file/{list_id}"
    if content == CSV:
        assert (await rest.rejected("POST", process))[:2] == (409, "quota")
        return
    assert (await rest.request("POST", process)).is_success
    await Worker(rest.services.jobs, rest.services.lists.jobs, rest.services.metrics).once()
    found = (await rest.request("GET", f"{BASE}/contactlists/{list_id}")).json()
    assert (found["status"], await count(rest, contacts)) == ("FAILED", 1), found
    (error,) = await rest.services.database.rows(sa.select(jobs.c.error))
    assert error[0] == "an account has at most 1 contacts (SWITCHROOM_MAX_CONTACTS)"


async def test_bytes_of_rejected_rows(rest: Rest) -> None:
    """They count with those of files: an import that has too many of them fails."""
    content = b"Phone\n" + b"x" * 900
    list_id = (await upload(rest, content)).json()["contactListId"]
    body = {"mappings": {"Phone": "phoneNumber"}}
    assert (await rest.request("POST", f"{BASE}/map-fields/{list_id}", body)).is_success
    assert (await rest.request("POST", f"{BASE}/process-file/{list_id}")).is_success
    await Worker(rest.services.jobs, rest.services.lists.jobs, rest.services.metrics).once()
    found = (await rest.request("GET", f"{BASE}/contactlists/{list_id}")).json()
    assert found["processing"]["error"].startswith("files of an account have at most 1024 bytes")
    assert (found["status"], await count(rest, rejects)) == ("FAILED", 0)


async def test_contacts(rest: Rest) -> None:
    """One by one."""
    list_id = await a_list(rest.services)
    body = {"contactListId": list_id, "phoneNumber": "+4790000001"}
    assert (await rest.request("POST", f"{BASE}/contactNumber", body)).is_success
    body["phoneNumber"] = "+4790000002"
    assert (await rest.rejected("POST", f"{BASE}/contactNumber", body))[:2] == (409, "quota")


async def test_bytes_of_contacts(rest: Rest) -> None:
    """However few they are; one that shrinks is changed, whatever the others have."""
    database = rest.services.database
    service = replace(
        rest.services.contacts.contacts,
        quotas=ContactQuotas(database, ContactLimits(contact_bytes=100)),
    )
    list_id = await a_list(rest.services, assigned_fields=["a"])

    def body(number: int, chars: int) -> ContactRequest:
        return ContactRequest(f"+479000000{number}", list_id, fields={"a": "x" * chars})

    first = await service.add("acme", body(1, 60))
    for attempt in (
        service.add("acme", body(2, 60)),
        service.change("acme", first.contact_id, body(1, 90)),
    ):
        with pytest.raises(Conflict, match="at most 100 bytes of texts") as refused:
            await attempt
        assert refused.value.code == "quota"
    assert await count(rest, contacts) == 1
    await service.change("acme", first.contact_id, body(1, 40))
    await service.add("acme", body(2, 10))


@pytest.mark.parametrize("many", [False, True])
async def test_bytes_of_tags(rest: Rest, many: bool) -> None:
    """They count with those of their contacts; a shorter tag takes the place of a longer one."""
    parts = rest.services
    list_id, count = await a_list(parts), MAX_SYNCHRONOUS + 1 if many else 2
    await contacts_in(parts, list_id, *some(count))
    text = await parts.database.scalar(sa.select(lists.c.bytes))
    limits = ContactLimits(contact_bytes=text + count * (2 * len("long") + 40))
    tags = TagService(
        parts.database,
        parts.lists.lists.lists,
        TagStore(parts.database, ContactQuotas(parts.database, limits)),
        parts.jobs,
    )

    async def error(remove: str | None, insert: str) -> str | None:
        """Replace a tag; return the error of the request, or of its job."""
        try:
            await tags.replace("acme", list_id, ManageTagsRequest(remove, insert))
        except Conflict as refused:
            return refused.detail
        await Worker(parts.jobs, {TAGS: tags.run}, parts.metrics).once()
        rest.services.now_ms.now += 1  # type: ignore[attr-defined]  # a manual clock
        newest = sa.select(jobs.c.error).order_by(jobs.c.created_ms.desc()).limit(1)
        return str(await parts.database.scalar(newest)) if many else None

    assert await error(None, "long") in {None, "None"}
    assert "bytes of texts and tags" in (await error(None, "b") or "")
    assert await error("long", "new") in {None, "None"}
    tagged = await parts.database.rows(sa.select(contact_tags.c.tag_id).distinct())
    assert [tag for (tag,) in tagged] == ["new"]


async def test_what_fits_exactly(rest: Rest) -> None:
    """It is accepted; one more is not."""
    quotas = ContactQuotas(rest.services.database, ContactLimits(contacts=10, bytes=10))
    async with rest.services.database.reading() as connection:
        for check in (quotas.check_contacts, quotas.check_bytes_within):
            await check(connection, "acme", 10)
            with pytest.raises(Conflict):
                await check(connection, "acme", 11)


async def count(rest: Rest, table: sa.Table) -> int:
    return int(await rest.services.database.scalar(sa.select(sa.func.count()).select_from(table)))


async def upload(rest: Rest, content: bytes) -> httpx2.Response:
    return await rest.client.post(
        f"{BASE}/upload",
        headers={"Authorization": rest.token},
        files={"file": ("contacts.csv", content)},
        data={"data": '{"name": "Spring"}'},
    )


async def test_bytes_of_files(rest: Rest) -> None:
    """A rejected upload has stored nothing."""
    answer = await upload(rest, b"Phone,Name\n" + b"+4790000001,Ada\n" * 60)
    assert answer.is_success, answer.text
    answer = await upload(rest, CSV * 2)
    assert (answer.status_code, answer.json()["code"]) == (409, "quota")
    stored = await rest.services.database.rows(sa.select(files.c.bytes))
    assert [size for (size,) in stored] == [971]


def too_large(rest: Rest, account: str = "acme") -> sa.Insert:
    """Return a file that leaves no room."""
    return sa.insert(files).values(
        account_id=account,
        name="x.csv",
        kind="csv",
        bytes=1_024,
        rows=0,
        headers=[],
        sample=[],
        uploaded_ms=rest.services.now_ms(),
    )


EXPORTS = {
    "contacts": (f"{BASE}/download-requests", {"format": "csv"}, {}),
    "workbook": (f"{BASE}/download-requests", {"format": "xlsx"}, {}),
    "records": ("/srmain/cdr/export", {}, REQUIRED),
}


@pytest.mark.parametrize("kind", EXPORTS)
async def test_no_export_starts_without_room(rest: Rest, kind: str) -> None:
    """Contacts and records; the account has stored all it may."""
    await a_list(rest.services, is_default=True)
    await rest.services.database.execute(too_large(rest))
    path, body, query = EXPORTS[kind]
    assert (await rest.rejected("POST", path, body, params=query))[:2] == (409, "quota")
    assert await count(rest, jobs) == 0


@pytest.mark.parametrize("kind", EXPORTS)
async def test_an_export_ends_at_the_limit(rest: Rest, kind: str) -> None:
    """What it has written is deleted, and does not count."""
    list_id = await a_list(rest.services, is_default=True)
    await contacts_in(rest.services, list_id, *some(2))
    await write_calls(rest.services.database, record(0))
    path, body, query = EXPORTS[kind]
    answer = await rest.request("POST", path, body, params=query)
    assert answer.is_success, answer.text
    await rest.services.database.execute(too_large(rest))
    services = rest.services
    handlers = {**services.contacts.jobs, **services.cdrs.jobs}
    assert await Worker(services.jobs, handlers, services.metrics).once()
    ((state, error),) = await services.database.rows(sa.select(jobs.c.state, jobs.c.error))
    assert state == "failed"
    assert error.startswith("files of an account have at most 1024 bytes")
    assert await count(rest, job_parts) == 0


async def test_exports_count(rest: Rest) -> None:
    """As long as they are kept: an upload that would fit without one is rejected."""
    list_id = await a_list(rest.services, is_default=True)
    await contacts_in(rest.services, list_id, *some(20))
    path, body, _ = EXPORTS["contacts"]
    assert (await rest.request("POST", path, body)).is_success
    await Worker(rest.services.jobs, rest.services.contacts.jobs, rest.services.metrics).once()
    assert await count(rest, job_parts) == 1
    answer = await upload(rest, b"Phone,Name\n" + b"+4790000001,Ada\n" * 60)
    assert (answer.status_code, answer.json()["code"]) == (409, "quota")


async def test_requests_at_once(tmp_path: Path, scene: RpcScene) -> None:
    """One more than the limit is 429; another account's is served, and later ones are."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, api_max_requests_of_account=1)
    async with run_rest(settings, scene) as rest:
        others = await rest.token_of("other", "other")
        first, arrived = asyncio.Event(), asyncio.Event()

        async def slow_body() -> AsyncIterator[bytes]:
            arrived.set()
            await first.wait()
            yield b"{}"

        headers = {"Authorization": rest.token, "Content-Type": "application/json"}
        path = "/srmain/voice/hangup"
        waiting = asyncio.create_task(rest.client.post(path, headers=headers, content=slow_body()))
        await arrived.wait()
        rejected = await rest.request("GET", "/srmain/recordings")
        assert rejected.status_code == 429, rejected.text
        assert rejected.json()["code"] == "too_many_requests"
        assert rejected.headers["retry-after"] == "1"
        other = await rest.request("GET", "/srmain/recordings", token=others)
        assert other.status_code == 200
        first.set()
        assert (await waiting).status_code == 400
        assert (await rest.request("GET", "/srmain/recordings")).status_code == 200


async def test_test_messages(tmp_path: Path, scene: RpcScene) -> None:
    """So many a minute; another account has its own, and time restores them."""
    clock = ManualClock()
    url = sqlite_url(tmp_path)
    async with messaging(url, scene, clock, limits={"test_sends_per_min": 2}) as at:
        made = await at.approved()
        body = {
            "templateId": made["id"],
            "phoneNumber": CUSTOMER,
            "variableValues": {"1": "Ada", "2": "it"},
        }
        path = f"{TEMPLATES}/test-send"
        for _ in range(2):
            assert (await at.rest.request("POST", path, body)).is_success
        rejected = await at.rest.request("POST", path, body)
        assert (rejected.status_code, rejected.json()["code"]) == (429, "test_rate")
        assert rejected.headers["retry-after"] == "60"
        assert len(at.platform.messages) == 2
        others = await at.rest.token_of("other", "other")
        answer = await at.rest.request("POST", path, body, token=others)
        assert answer.json()["code"] == "unknown_template"  # not 429
        clock.now += 30_000
        assert (await at.rest.request("POST", path, body)).is_success
