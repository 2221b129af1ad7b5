"""Searches of contacts over HTTP: prefixes, tags, pages, totals."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
import sqlalchemy as sa

from api.accounts.store import Account
from api.contacts.imports.job import UpsertTarget, upsert_batch
from api.contacts.imports.reader.messages import Batch
from api.contacts.tables import contacts, lists
from api.contacts.tags import TagReplacementJob
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.contacts.lists import BASE, NAMES, a_list, contacts_in, some
from tests.harness.api.rest import Rest


async def found(rest: Rest, path: str, **words: Any) -> Any:
    """Return a page."""
    answer = await rest.request("GET", f"{BASE}/{path}", params=words)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(page: Any) -> list[tuple[str, str]]:
    """Return the names on a page."""
    return [(each["fName"], each["lName"]) for each in page["data"]]


async def test_pages_and_totals(kept: Rest) -> None:
    """Contacts are in the order in which they were added, ten by default."""
    list_id = await a_list(kept.services)
    ids = await contacts_in(kept.services, list_id, *some(25))
    other = await a_list(kept.services, name="Autumn")
    others = await contacts_in(kept.services, other, *some(5))
    page = await found(kept, f"get-contact/{list_id}")
    assert [each["contactId"] for each in page["data"]] == ids[:10]
    assert (page["total"], page["totalIsExact"], page["limit"], page["offset"]) == (25, True, 10, 0)
    page = await found(kept, f"get-contact/{list_id}", limit=10, offset=20)
    assert [each["contactId"] for each in page["data"]] == ids[20:]
    page = await found(kept, "all-contacts", limit=100)
    assert [each["contactId"] for each in page["data"]] == [*ids, *others]
    assert page["total"] == 30
    page = await found(kept, f"viewContacts/{list_id}", offset=99)
    assert (page["data"], page["total"]) == ([], 25)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ({"fName": "ann"}, [NAMES[2], NAMES[3]]),
        ({"fName": "ANNA", "lName": "ber"}, [NAMES[2]]),
        ({"fName": "ås"}, [NAMES[1]]),
        ({"fName": "A\u030as"}, [NAMES[1]]),  # the ring as a combining character
        ({"fName": "\uff21nn"}, [NAMES[2], NAMES[3]]),
        ({"lName": "BE"}, [NAMES[0], NAMES[2]]),
        ({"lName": "bø"}, [NAMES[1]]),
        ({"fName": "%"}, []),
        ({"fName": "nobody"}, []),
        ({"phNumber": "+4790000003"}, [NAMES[3]]),
        ({"phNumber": " 47 900 000 01"}, [NAMES[1]]),
        ({"phNumber": "004790000001"}, [NAMES[1]]),
        ({"phNumber": "90000002"}, [NAMES[2]]),
        ({"phNumber": "479"}, list(NAMES)),
        ({"phNumber": "+47 (9)0"}, list(NAMES)),
        ({"phNumber": "4"}, list(NAMES)),
        ({"phNumber": "9000000", "fName": "a"}, [NAMES[1 + 1], NAMES[3]]),
        ({"email": "mailto:2@EX"}, [NAMES[2]]),
        ({"email": "2@", "lName": "berg"}, []),
    ],
)
async def test_prefixes(rest: Rest, words: dict[str, str], wanted: list[tuple[str, str]]) -> None:
    """Prefixes of names, numbers and addresses match; other accounts and deleted lists do not."""
    await rest.services.accounts.change(Account("acme", "acme", region="NO"))
    list_id = await a_list(rest.services)
    await contacts_in(rest.services, list_id, *some(4))
    await contacts_in(rest.services, await a_list(rest.services, is_deleted=True), *some(4))
    others = await a_list(rest.services, "other")
    await contacts_in(rest.services, others, *some(4), account="other")
    page = await found(rest, "all-contacts", **words)
    assert sorted(names(page)) == sorted(wanted)
    assert (page["total"], page["totalIsExact"]) == (len(wanted), True)
    if "phNumber" in words:
        words = {**words, "number": words["phNumber"]}
        del words["phNumber"]
    if "email" not in words:
        page = await found(rest, f"viewContacts/{list_id}", **words)
        assert sorted(names(page)) == sorted(wanted)


async def test_tags_find_contacts(kept: Rest) -> None:
    """A contact with any of the tags is found once, in the order of addition."""
    list_id = await a_list(kept.services)
    both = await contacts_in(kept.services, list_id, *some(2), tags=("a", "b"))
    only = await contacts_in(kept.services, list_id, *some(2, first=2), tags=("b",))
    await contacts_in(kept.services, list_id, *some(2, first=4))
    for words, wanted in (
        ({"tags": "a"}, both),
        ({"tags": "a,b"}, [*both, *only]),
        ({"tags": "a, b", "limit": "1", "offset": "1"}, both[1:]),
        ({"tags": "c"}, []),
    ):
        page = await found(kept, f"get-contact/{list_id}", **words)
        assert [each["contactId"] for each in page["data"]] == wanted
    assert page["total"] == 0
    page = await found(kept, f"viewContacts/{list_id}", tags="b", fName="Ann")
    assert [each["contactId"] for each in page["data"]] == only
    assert page["data"][0]["tags"] == ["b"]
    page = await found(kept, f"viewContacts/{list_id}", contactId=both[1], tags="a")
    assert [each["contactId"] for each in page["data"]] == [both[1]]
    assert (await found(kept, f"viewContacts/{list_id}", contactId="x"))["data"] == []


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"offset": "100001"}, "offset"),
        ({"page": "1"}, "page"),
        ({"fName": "a\nb"}, "fName"),
        ({"crm": "perhaps"}, "crm"),
        ({"crm": "1", "limit": "101"}, "limit"),
        ({"tags": "a\nb"}, "tags"),
        ({"number": "nine"}, "number"),
    ],
)
async def test_bad_queries_are_rejected(rest: Rest, words: dict[str, str], path: str) -> None:
    """Each error has its path."""
    list_id = await a_list(rest.services)
    result = await rest.rejected("GET", f"{BASE}/viewContacts/{list_id}", params=words)
    assert (result[0], result[2]) == (400, [path])


async def test_the_bytes_of_its_contacts(kept: Rest) -> None:
    """Those of the texts, however a contact comes, changes, moves and goes."""
    first, other = [await a_list(kept.services, name=name) for name in ("A", "B")]
    database = kept.services.database

    async def sizes() -> tuple[int, ...]:
        found = await database.rows(sa.select(lists.c.bytes).order_by(lists.c.id))
        return tuple(size for (size,) in found)

    has_number = contacts.c.phone_number == "+4790000000"

    async def change(**values: Any) -> None:
        await database.execute(sa.update(contacts).where(has_number).values(**values))

    await contacts_in(kept.services, first, {"phone_number": "+4790000000", "f_name": "\u00c5se"})
    await contacts_in(kept.services, first, {"phone_number": "+4790000001"})
    assert await sizes() == (15 + 11, 0)
    await change(fields='{"a":"b"}')
    assert await sizes() == (24 + 11, 0)
    await change(list_id=int(other), call_status="busy")
    assert await sizes() == (11, 28)
    target = UpsertTarget("acme", int(other), "update", 1)
    names: list[str | None] = ["Bo", "Bo"]
    fields: list[str | None] = ['{"c":"d"}'] * 2
    numbers = ["+4790000000", "+4790000002"]
    batch = Batch(2, 0, [], numbers, names, names, names, names, names, names, fields)
    async with database.writing() as connection:
        await upsert_batch(connection, target, batch)
    (merged,) = await database.rows(sa.select(contacts.c.fields).where(has_number))
    assert await sizes() == (11, 11 + 6 + len(merged[0]) + 4 + 11 + 6 + 9)
    await database.execute(sa.delete(contacts))
    assert await sizes() == (0, 0)


async def test_the_bytes_of_its_contacts_tags(kept: Rest) -> None:
    """Twice the tag's and 40 for each contact: added, replaced, moved, and deleted with it."""
    lists_of = [int(await a_list(kept.services, name=name)) for name in ("A", "B")]
    database, service = kept.services.database, kept.services.contacts
    numbers = [{"phone_number": f"+479000000{each}"} for each in range(2)]
    moved, _ = await contacts_in(kept.services, str(lists_of[0]), *numbers)

    async def sizes() -> tuple[int, ...]:
        found = await database.rows(sa.select(lists.c.bytes).order_by(lists.c.id))
        return tuple(size for (size,) in found)

    async def replaced(remove: str | None, insert: str | None) -> int:
        replacement = TagReplacementJob(lists_of[0], remove, insert)
        await service.tags.tags.replace_batch("acme", replacement, 0)
        return (await sizes())[0] - 2 * 11

    tag = 2 * 2 + 40
    assert await replaced(None, "å") == await replaced(None, "å") == 2 * tag
    assert await replaced(None, "b") == 2 * tag + 2 * 42
    assert await replaced("b", "ccc") == 2 * tag + 2 * 46
    assert await replaced("ccc", None) == 2 * tag
    async with database.writing() as connection:
        store = service.contacts.contacts
        await store.change(connection, int(moved), {"list_id": lists_of[1]})
    assert await sizes() == (11 + tag, 11 + tag)
    await database.execute(sa.delete(contacts).where(contacts.c.id == int(moved)))
    assert await sizes() == (11 + tag, 0)


@pytest.mark.parametrize(
    ("path", "several", "one"),
    [
        (f"{BASE}/all-contacts", {"fName": "A", "phNumber": "+47"}, {"fName": "A"}),
        (
            "/srmain/cdr",
            {**REQUIRED, "callPath": "a", "obdType": "b"},
            {**REQUIRED, "callPath": "a"},
        ),
    ],
)
async def test_searches_by_several_filters_take_turns(
    rest: Rest, path: str, several: dict[str, str], one: dict[str, str]
) -> None:
    """An account has one at a time, and some that wait; another's, and simple ones, do not wait."""
    other = await rest.token_of("other", "other")
    async with AsyncExitStack() as stack:
        slots = rest.services.contacts.search.slots
        await stack.enter_async_context(slots.slot("acme"))
        waiting = asyncio.create_task(rest.request("GET", path, params=several))
        for token, words in ((other, several), ("", one)):
            answer = await rest.request("GET", path, params=words, token=token or None)
            assert answer.status_code == 200, answer.text
        assert not waiting.done()
    assert (await waiting).status_code == 200
