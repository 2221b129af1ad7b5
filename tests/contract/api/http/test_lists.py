"""Lists read no more than they show, of rows that may be large."""

import json
from typing import Any

import pytest

from api.common.background import background
from api.documents.tables import documents
from tests.harness.api.databases import statements
from tests.harness.api.rest import Rest
from tests.harness.scenarios.graphs import API
from tests.harness.until import until

REQUESTS = "/srmain/voice/requests"
REQUEST: dict[str, Any] = {
    "name": "People",
    "url": "https://crm.example/people",
    "method": "POST",
    "json": {"text": "x" * 50_000},
    "secrets": {"token": "t", "also": "u"},
}


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
    """Also one of an earlier version, once its summary is made."""
    await kept.request("PUT", f"{REQUESTS}/{API}", REQUEST)
    listed = (await kept.request("GET", REQUESTS)).json()
    (row,) = listed["data"]
    assert (row["name"], row["method"], row["url"], row["secrets"]) == (
        "People",
        "POST",
        REQUEST["url"],
        ["also", "token"],
    )
    await kept.services.database.execute(documents.update().values(summary=None))
    assert (await kept.rejected("GET", REQUESTS))[:2] == (503, "unreadable_document")
    async with background(kept.services.documents.sync.run(0.01)):

        async def is_listed() -> bool:
            return bool((await kept.request("GET", REQUESTS)).json() == listed)

        await until(is_listed)
