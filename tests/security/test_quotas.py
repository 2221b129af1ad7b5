"""M6: an account cannot use up what all accounts share."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from api.common.token_buckets import Rate, TokenBuckets
from api.contacts.tables import files
from tests.contract.api.contacts.lists import BASE, a_list
from tests.contract.api.databases import sqlite_url
from tests.contract.api.manual_clock import ManualClock
from tests.contract.api.rest import Rest, run_rest, settings_for
from tests.contract.rpc.harness.bench import Bench

CSV = b"Phone,Name\n+4790000001,Ada\n+4790000002,Eve\n"
LIMITS: dict[str, Any] = {
    "max_contact_lists": 2,
    "max_contacts": 1,
    "max_stored_bytes": 1_024,
    "api_requests_per_s": 10,
}


@pytest.fixture
async def rest(tmp_path: Path, bench: Bench) -> AsyncIterator[Rest]:
    settings = settings_for(sqlite_url(tmp_path), bench.url, **LIMITS)
    async with run_rest(settings, bench, ManualClock()) as made:
        yield made


async def test_the_rate_of_requests(rest: Rest) -> None:
    """One account's does not affect another's, and time restores it."""
    path = "/srmain/recordings"
    statuses = [(await rest.request("GET", path)).status_code for _ in range(22)]
    assert statuses == [200] * 20 + [429] * 2
    rejected = await rest.request("GET", path)
    assert (rejected.json()["code"], rejected.headers["retry-after"]) == ("request_rate", "1")
    others = await rest.token_of("other", "other")
    assert (await rest.request("GET", path, token=others)).status_code == 200
    rest.services.now_ms.now += 100  # type: ignore[attr-defined]  # a manual clock
    statuses = [(await rest.request("GET", path)).status_code for _ in range(2)]
    assert statuses == [200, 429]


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


async def test_contacts(rest: Rest) -> None:
    """Neither one by one, nor by an import."""
    list_id = await a_list(rest.services)
    body = {"contactListId": list_id, "phoneNumber": "+4790000001"}
    assert (await rest.request("POST", f"{BASE}/contactNumber", body)).is_success
    body["phoneNumber"] = "+4790000002"
    assert (await rest.rejected("POST", f"{BASE}/contactNumber", body))[:2] == (409, "quota")


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
