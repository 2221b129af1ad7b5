"""Lists read no more than they show, of rows that may be large."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from msgspec import to_builtins

from api.contacts.exports.job import KIND as DOWNLOAD
from api.contacts.exports.job import DownloadJob
from api.db.page_bytes import MAX_PAGE_BYTES
from api.templates.store import templates
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import CUSTOMER, OURS, record, write_calls
from tests.harness.api.contacts.lists import a_list, contacts_in, some
from tests.harness.api.databases import statements
from tests.harness.api.rest import Rest
from tests.harness.api.templates.messaging import BASE as TEMPLATES
from tests.harness.rpc.scene import SAY
from tests.harness.scenarios.graphs import API

REQUESTS = "/srmain/voice/requests"
REQUEST: dict[str, Any] = {
    "name": "People",
    "url": "https://crm.example/people",
    "method": "POST",
    "json": {"text": "x" * 50_000},
    "secrets": {"token": "t", "also": "u"},
}
LARGE = "x" * 1_000_000
ROWS = 7


async def uploaded(rest: Rest) -> None:
    """Upload a file of contacts."""
    file = {"file": ("a.csv", b"Phone,Name\n+4790000001,Ada\n", "text/csv")}
    form = {"data": json.dumps({"name": "Spring"})}
    headers = {"Authorization": rest.token}
    path = "/srmain/contacts_list/upload"
    answer = await rest.client.post(path, files=file, data=form, headers=headers)
    assert answer.is_success, answer.text


@pytest.mark.parametrize(
    ("path", "unread"),
    [
        (REQUESTS, ["documents.body"]),
        ("/srmain/contacts_list/contactlists", ["contact_files.sample"]),
        ("/srmain/jobs", ["jobs.payload", "jobs.result"]),
    ],
)
async def test_large_columns_that_are_not_shown_are_not_read(
    kept: Rest, path: str, unread: list[str]
) -> None:
    """A page of a thousand rows would have a hundred megabytes of them."""
    assert (await kept.request("PUT", f"{REQUESTS}/{API}", REQUEST)).is_success
    await uploaded(kept)
    with statements() as sent:
        answer = await kept.request("GET", path)
    assert answer.is_success, answer.text
    assert sent
    assert not [each for each in sent if any(column in each for column in unread)]


async def test_an_api_request_is_listed_by_its_summary(kept: Rest) -> None:
    """It has the names of its secrets, not its body."""
    await kept.request("PUT", f"{REQUESTS}/{API}", REQUEST)
    listed = (await kept.request("GET", REQUESTS)).json()
    (row,) = listed["data"]
    assert (row["name"], row["method"], row["url"], row["secrets"]) == (
        "People",
        "POST",
        REQUEST["url"],
        ["also", "token"],
    )


async def _records(rest: Rest) -> None:
    large = {"text": LARGE}
    await write_calls(rest.services.database, *(record(n, custom_data=large) for n in range(ROWS)))


async def _contacts(rest: Rest) -> None:
    list_id = await a_list(rest.services, assigned_fields=["note"])
    fields = json.dumps({"note": LARGE})
    await contacts_in(rest.services, list_id, *({**row, "fields": fields} for row in some(ROWS)))


async def _lists(rest: Rest) -> None:
    for number in range(ROWS):
        await a_list(rest.services, name=f"List {number}", assigned_fields=[LARGE])


async def _numbers(rest: Rest) -> None:
    route = msgspec.json.encode({"account": "acme", "action": SAY}).ljust(len(LARGE))
    for number in range(ROWS):
        if number:
            await rest.services.accounts.add_number("acme", f"+472193100{number}")
        its = f"+472193100{number}" if number else OURS
        await rest.services.documents.store.put("acme", "route", its, route)


async def _templates(rest: Rest) -> None:
    row = {
        "account_id": "acme",
        "language": "nb",
        "category": "UTILITY",
        "phone_number_id": "1",
        "parameter_format": "POSITIONAL",
        "is_primary_device_delivery_only": False,
        "components": [{"type": "BODY", "text": LARGE}],
        **dict.fromkeys(("status_ms", "status_s", "created_ms", "updated_ms"), 0),
    }
    rows = [{**row, "id": f"t{number}", "name": f"n{number}"} for number in range(ROWS)]
    await rest.services.database.execute(templates.insert().values(rows))


async def _downloads(rest: Rest) -> None:
    payload = to_builtins(DownloadJob(1, "Spring", (LARGE,), "csv"))
    async with rest.services.database.writing() as connection:
        for _ in range(ROWS):
            await rest.services.jobs.add(connection, DOWNLOAD, "acme", payload)


async def pages(rest: Rest, path: str) -> list[list[str]]:
    """Return the ids on each page of a list, as its `Link` headers lead from one to the next."""
    found: list[list[str]] = []
    while path:
        answer = await rest.request("GET", path)
        assert answer.is_success, answer.text
        found.append([next(iter(row.values())) for row in answer.json()["data"]])
        link = re.fullmatch('<(.*)>; rel="next"', answer.headers.get("link", ""))
        path = link[1] if link else ""
    return found


@pytest.mark.parametrize(
    ("fill", "path"),
    [
        (_records, "/srmain/cdr?limit=1000&" + "&".join(f"{each}=" for each in REQUIRED)),
        (_records, f"/srmain/cdr/customer-history?limit=1000&offset=0&number=%2B{CUSTOMER[1:]}"),
        (_contacts, "/srmain/contacts_list/get-contact/1?limit=1000"),
        (_contacts, "/srmain/contacts_list/all-contacts?limit=1000&lName=b"),
        (_contacts, "/srmain/contacts_list/viewContacts/1?limit=1000&lName=b"),
        (_lists, "/srmain/contacts_list/contactlists?limit=1000"),
        (_numbers, "/srmain/voice/numbers?limit=1000"),
        (_templates, f"{TEMPLATES}?limit=1000&offset=0&name=&category=&status=&phoneNumberId="),
        (_downloads, "/srmain/contacts_list/download-requests?limit=1000"),
    ],
)
async def test_a_page_of_large_rows_ends_early(
    kept: Rest, fill: Callable[[Rest], Awaitable[None]], path: str
) -> None:
    """After some megabytes; the next pages have the other rows, each once, and no page is empty."""
    await fill(kept)
    found = await pages(kept, path)
    matching = [each for page in found for each in page]
    assert len(matching) == len(set(matching)) > 0
    most = MAX_PAGE_BYTES // len(LARGE) + 1
    assert [len(each) for each in found[:-1]] == [most] * (len(found) - 1)
    assert 0 < len(found[-1]) <= most
    if "Name=" not in path:
        assert len(matching) == ROWS


async def test_tags_are_bytes_of_a_page(kept: Rest) -> None:
    """A page of contacts with many tags ends earlier, and shows them in order."""
    fields, tags = json.dumps({"note": LARGE}), tuple(f"{each:064}" for each in range(750))
    list_id = await a_list(kept.services, assigned_fields=["note"])
    rows = ({**row, "fields": fields} for row in some(ROWS))
    await contacts_in(kept.services, list_id, *rows, tags=tags)
    path = f"/srmain/contacts_list/get-contact/{list_id}?limit=1000"
    found = await pages(kept, path)
    assert [len(each) for each in found] == [MAX_PAGE_BYTES // len(LARGE), 3]
    page = (await kept.request("GET", path)).json()
    assert tuple(page["data"][0]["tags"]) == tags
