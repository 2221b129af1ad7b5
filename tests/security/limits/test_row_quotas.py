"""L4: an account's rows are limited in every table that its keys can make grow."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.audit.trail import FOLD_MS, AuditEntry, AuditFilters, AuditTrail, EntryRate
from api.auth.key_store import ENDED_KEPT_MS, MAX_ENDED_FACTOR, KeyStore, generate_credentials
from api.common.errors import Conflict
from api.contacts.contacts.contact_events import events
from api.contacts.exports.store import JOB_KEPT_MS
from api.contacts.tables import contact_tags
from api.contacts.tags import MAX_TAGS_OF_CONTACT
from api.db.database import metadata
from api.db.row_quota import COUNT_INTERVAL_MS
from api.dnc.tokens import DncTokenStore
from api.http.idempotency import RETENTION_MS
from api.jobs.store import MAX_KEPT, jobs
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import CUSTOMER, Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

LISTS, CALLS = "by SWITCHROOM_MAX_CONTACT_LISTS", "by calls: its rate, its minutes, its retention"
DOCUMENTS, FILES = "by SWITCHROOM_MAX_DOCUMENTS", "by SWITCHROOM_MAX_STORED_BYTES"
DNC, OPERATOR = "by SWITCHROOM_MAX_DNC_ENTRIES", "only operators add rows"
ACCOUNT, CONTACTS = "a row of an account, a day or a hundred", "by SWITCHROOM_MAX_CONTACTS"
BOUNDS = {
    **dict.fromkeys(("accounts", "numbers", "endpoints", "dnc_tokens"), OPERATOR),
    **dict.fromkeys(("call_counts", "call_paces", "usage_days", "document_collections"), ACCOUNT),
    "api_keys": "by SWITCHROOM_MAX_KEYS, live ones and those that ended within 30 days",
    "audit": "by SWITCHROOM_AUDIT_ENTRIES_PER_MIN",
    "idempotency": "by SWITCHROOM_MAX_IDEMPOTENCY_KEYS",
    **dict.fromkeys(
        ("cdrs", "cdr_agents", "cdr_bodies", "cdr_clients", "cdr_digits", "cdr_events"), CALLS
    ),
    **dict.fromkeys(("cdr_numbers", "calls_asked_for", "transcripts"), CALLS),
    **dict.fromkeys(("contact_lists", "contact_list_tags", "contact_imports"), LISTS),
    **dict.fromkeys(("contact_files", "contact_file_parts", "contact_rejects", "job_parts"), FILES),
    **dict.fromkeys(("contacts", "contact_tags", "contact_events"), CONTACTS),
    **dict.fromkeys(("dnc_entries", "dnc_lists"), DNC),
    **dict.fromkeys(("documents", "flow_versions"), DOCUMENTS),
    **dict.fromkeys(("msgapp_numbers", "msgapp_templates"), DOCUMENTS),
    **dict.fromkeys(("jobs", "contact_downloads"), "by SWITCHROOM_MAX_JOBS, and within 30 days"),
}
LIMITS: dict[str, Any] = {
    "max_dnc_entries": 2,
    "max_idempotency_keys": 2,
    "max_documents": 2,
    "max_deleted_documents": 2,
    "max_keys": 3,  # one of the account, one of its agent
}
NUMBER = {"businessName": "A", "businessMsgappNumber": "+4721930000"}
SAY = {"type": "say", "data": {"text": "Hello."}}


@pytest.fixture
async def rest(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    settings = settings_for(sqlite_url(tmp_path), scene.url, **LIMITS)
    async with run_rest(settings, scene, ManualClock()) as made:
        yield made


def pass_ms(rest: Rest, ms: int) -> None:
    rest.services.now_ms.now += ms  # type: ignore[attr-defined]  # a manual clock


async def new_token(rest: Rest) -> None:
    """Get a token after time has passed."""
    rest.token = await rest.token_of("acme")


def test_each_table_has_a_bound() -> None:
    """A new table says what limits its rows, or nothing does."""
    assert sorted(BOUNDS) == sorted(metadata.tables)


async def dnc_entry(rest: Rest, number: int, token: str | None) -> Any:
    body = {"phoneNo": f"+479000000{number}", "provider": "x"}
    return await rest.request("POST", "/srmain/dnc", body, token=token)


async def number_record(rest: Rest, number: int, token: str | None) -> Any:
    body = NUMBER | {"phoneNumberId": str(number)}
    return await rest.request("POST", "/srmain/msgapp-numbers", body, token=token)


async def request_that_is_deleted(rest: Rest, number: int, token: str | None) -> Any:
    path = f"/srmain/voice/requests/{number:024}"
    made = await rest.request("PUT", path, {"url": "https://x.example/"}, token=token)
    if made.is_success:
        assert (await rest.request("DELETE", path, token=token)).is_success
    return made


KINDS = {
    "do-not-call entries": (dnc_entry, "SWITCHROOM_MAX_DNC_ENTRIES"),
    "number records": (number_record, "SWITCHROOM_MAX_DOCUMENTS"),
    "deleted documents": (request_that_is_deleted, "SWITCHROOM_MAX_DELETED_DOCUMENTS"),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_rows_are_limited(rest: Rest, kind: str) -> None:
    """One more is 409 with limit and setting; another account adds its own."""
    add, setting = KINDS[kind]
    for number in range(2):
        assert (await add(rest, number, None)).is_success
    refused = await add(rest, 3, None)
    assert (refused.status_code, refused.json()["code"]) == (409, "quota")
    assert "at most 2 " in refused.json()["detail"]
    assert setting in refused.json()["detail"]
    others = await rest.token_of("other", "other")
    made = await add(rest, 4, others)
    assert made.is_success, made.text


async def test_an_entry_that_is_there_changes_at_the_limit(rest: Rest) -> None:
    """By a key, and by a link; the link adds no further one."""
    for number in range(2):
        assert (await dnc_entry(rest, number, None)).is_success
    removed = await rest.request("DELETE", "/srmain/dnc?phoneNo=%2B4790000001&provider=x")
    assert removed.is_success, removed.text
    assert (await dnc_entry(rest, 1, None)).is_success
    token = await DncTokenStore(rest.services.database, rest.services.now_ms).add("acme")
    link = f"/srmain/dnc/subscribe/{token}?provider=x&phoneNo=%2B479000000"
    assert (await rest.client.get(f"{link}1")).is_success
    assert (await rest.client.get(f"{link}7")).json()["code"] == "quota"


async def test_idempotency_keys(rest: Rest) -> None:
    """A new one is 409 for a day; one that was sent gets its response again."""
    path, body = "/srmain/msgapp-numbers", NUMBER | {"phoneNumberId": "1"}

    async def send(key: str) -> Any:
        return await rest.request("POST", path, body, headers={"Idempotency-Key": key})

    first = await send("a")
    assert first.is_success
    assert (await send("b")).json()["code"] == "taken"  # which stores no key
    body["phoneNumberId"] = "2"
    assert (await send("b")).is_success
    body["phoneNumberId"] = "1"
    refused = await send("c")
    assert (refused.status_code, refused.json()["code"]) == (409, "quota")
    assert "SWITCHROOM_MAX_IDEMPOTENCY_KEYS" in refused.json()["detail"]
    assert (await send("a")).text == first.text
    pass_ms(rest, RETENTION_MS + COUNT_INTERVAL_MS)
    await rest.services.idempotency.delete_expired()
    await new_token(rest)
    assert "IDEMPOTENCY" not in (await send("d")).text


async def test_keys_that_were_revoked(rest: Rest) -> None:
    """So many within 30 days; those of before are deleted."""
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    for _ in range(3 * MAX_ENDED_FACTOR):
        key = await keys.add("acme", generate_credentials(), max_keys=3)
        await keys.expire("acme", key, rest.services.now_ms())
    with pytest.raises(Conflict, match=r"30 keys .* ended .* \(SWITCHROOM_MAX_KEYS\)") as refused:
        await keys.add("acme", generate_credentials(), max_keys=3)
    assert refused.value.code == "too_many_keys"
    await keys.add("other", generate_credentials(), max_keys=3)
    pass_ms(rest, ENDED_KEPT_MS + 1)
    await keys.add("acme", generate_credentials(), max_keys=3)
    assert len(await keys.all("acme")) == 3


async def test_jobs_of_the_past(rest: Rest) -> None:
    """So many within 30 days; those of before are deleted."""
    await a_list(rest.services, is_default=True)
    path, body = f"{BASE}/download-requests", {"format": "csv"}
    made = await rest.post(path, **body)
    row = (await rest.services.database.mappings(sa.select(jobs)))[0]
    ended = {**row, "state": "done", "ended_ms": rest.services.now_ms()}
    await rest.services.database.execute(sa.update(jobs).values(state="done", ended_ms=1))
    rows = [{**ended, "id": f"{number:032}"} for number in range(MAX_KEPT - 1)]
    async with rest.services.database.writing() as connection:
        await connection.execute(sa.insert(jobs), rows)
    assert (await rest.rejected("POST", path, body))[:2] == (429, "too_many_jobs")
    pass_ms(rest, JOB_KEPT_MS + 1)
    await rest.services.contacts.old_jobs.delete()
    await new_token(rest)
    assert (await rest.request("GET", f"{path}/{made['id']}")).status_code == 404
    assert (await rest.request("POST", path, body)).is_success


async def test_events_of_a_contact(rest: Rest) -> None:
    """A further one of a kind replaces the one before."""
    list_id = await a_list(rest.services)
    body = {"contactListId": list_id, "phoneNumber": CUSTOMER, "addToRunningCampaign": True}
    contact = await rest.post(f"{BASE}/contactNumber", **body)
    for name in ("A", "B", "C"):
        path = f"{BASE}/contactNumber/{contact['contactId']}"
        assert (await rest.request("PATCH", path, {**body, "fName": name})).is_success
    found = await rest.services.database.rows(sa.select(events.c.event).order_by(events.c.id))
    assert [each.event for each in found] == ["contact-added", "contact-changed"]


async def test_tags_of_a_contact(rest: Rest) -> None:
    """A contact with as many as it may have gets no further one, but one instead of another."""
    list_id = await a_list(rest.services)
    await contacts_in(rest.services, list_id, *some(2))
    path = f"{BASE}/{list_id}/manage-tags"
    for number in range(MAX_TAGS_OF_CONTACT + 3):
        assert (await rest.request("PATCH", path, {"insertTag": f"t{number}"})).is_success
        pass_ms(rest, 100)
    assert (
        await rest.request("PATCH", path, {"removeTag": "t1", "insertTag": "instead"})
    ).is_success
    database = rest.services.database
    count = sa.select(sa.func.count()).select_from(contact_tags)
    assert await database.scalar(count) == 2 * MAX_TAGS_OF_CONTACT
    assert await database.scalar(count.where(contact_tags.c.tag_id == "instead")) == 2


async def test_audit_entries_beyond_the_rate_are_folded(rest: Rest) -> None:
    """Into one a minute for each caller, action and outcome; other accounts have their own."""
    clock = ManualClock()
    trail = AuditTrail(rest.services.database, clock, rate=EntryRate(1, clock))
    entry = AuditEntry("acme", 0, "key:1", "POST /x", "/x", "429")
    for number in range(1_000):
        trail.add(replace(entry, object=f"/x/{number}"))
    trail.add(replace(entry, action="DELETE /y", object="/y/1"))
    trail.add(replace(entry, account_id="other"))
    trail.add_folded()  # not yet
    clock.now += FOLD_MS
    trail.add_folded()
    await trail.flush()
    objects = [
        each.entry.object for each in (await trail.page(AuditFilters("acme"), 50, None)).entries
    ]
    assert objects[:2] == ["1 entries, the last: /y/1", "990 entries, the last: /x/999"]
    assert objects[2:] == [f"/x/{number}" for number in reversed(range(10))]
    assert len((await trail.page(AuditFilters("other"), 50, None)).entries) == 1
