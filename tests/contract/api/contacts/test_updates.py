"""Contacts updated by a file: changes are written and found; unchanged contacts are not written."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.api.contacts.uploads import BASE, contacts, imported, mapped, processed, sent
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.serving import Served, serve_rest

MAPPINGS = {"Phone": "phoneNumber", "Last": "lName", "Mail": "email", "City": "city", "Zip": "zip"}
HEAD = ",".join(MAPPINGS)
FIRST = f"{HEAD}\n+4790000001,Berg,n@example.com,Oslo,\n+4790000002,Dahl,,,\n+4790000003,,,,\n"


@pytest.fixture
async def rest(database_url: str, clock: ManualClock) -> AsyncIterator[Served]:
    """Run the REST layer with a clock that the test sets."""
    async with serve_rest(database_url, clock=clock) as found:
        yield found


async def changed(rest: Served, clock: ManualClock, list_id: str, *rows: str) -> list[str]:
    """Update a list by a file, a minute later; return the numbers of the written contacts."""
    before = {each["phoneNumber"]: each["updatedTime"] for each in await contacts(rest, list_id)}
    clock.now += 60_000
    file = "\n".join([HEAD, *rows]).encode()
    path = f"/updatecontactlist/{list_id}"
    assert (await sent(rest, file, path=path, method="PATCH"))[0] == 200
    await mapped(rest, list_id, MAPPINGS)
    found = await processed(rest, list_id, action="update")
    result = found["processing"]
    assert (result["rows"], result["rejected"]) == (len(rows), 0)
    assert result["updated"] + result["added"] == len(rows)
    assert found["contacts"] == len(before) + result["added"]
    after = {each["phoneNumber"]: each["updatedTime"] for each in await contacts(rest, list_id)}
    return sorted(number for number, time in after.items() if before.get(number) != time)


async def names(rest: Served, **words: str) -> list[str]:
    """Search contacts by prefix; return their numbers."""
    _, page = await rest.request("GET", f"{BASE}/all-contacts", **words)
    return [str(each["phoneNumber"]) for each in page["data"]]


async def test_only_what_is_new_is_written(rest: Served, clock: ManualClock) -> None:
    """Rows without changes and empty cells write no contact."""
    list_id, _ = await imported(rest, FIRST.encode(), MAPPINGS, assignedFields=["city", "zip"])
    assert await changed(rest, clock, list_id, *FIRST.splitlines()[1:]) == []
    assert await changed(rest, clock, list_id, "+4790000001,,,,", "+4790000002,Dahl,,,") == []
    assert await changed(rest, clock, list_id, "+4790000001,,,,0150") == ["+4790000001"]
    assert await changed(rest, clock, list_id, "+4790000001,Berg,,Oslo,0150") == []
    assert await changed(rest, clock, list_id, "+4790000002,Dahl,,Bergen,") == ["+4790000002"]
    news = ("+4790000003,Lie,,,", "+4790000004,,,,")
    assert await changed(rest, clock, list_id, *news) == ["+4790000003", "+4790000004"]
    assert [each["fields"] for each in await contacts(rest, list_id)] == [
        {"city": "Oslo", "zip": "0150"}, {"city": "Bergen"}, {}, {},
    ]  # fmt: skip


async def test_what_is_changed_is_found(rest: Served, clock: ManualClock) -> None:
    """A contact is found by new values, not by old ones; omitted values stay."""
    list_id, _ = await imported(rest, FIRST.encode(), MAPPINGS, assignedFields=["city", "zip"])
    await changed(rest, clock, list_id, "+4790000001,Bø,,,", "+4790000002,,d@example.com,,")
    assert (await names(rest, lName="berg"), await names(rest, lName="bø")) == ([], ["+4790000001"])
    assert await names(rest, email="n@") == ["+4790000001"]
    assert await names(rest, email="d@", lName="dahl") == ["+4790000002"]
