"""Searches of contacts: every access path finds the same contacts."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.accounts.store import Account, AccountStore
from api.common.clock import now_ms
from api.contacts.contacts.filters import Filters
from api.contacts.contacts.pages import Limits, Pages
from api.contacts.contacts.store import ContactStore
from api.contacts.list_store import ListStore, adjust_contact_count
from api.contacts.search_keys import normalize
from api.contacts.tables import contact_tags
from api.db.database import Database

Row = dict[str, Any]
A_LIST = {
    "description": "",
    "status": "CREATED",
    "is_default": False,
    "is_active": True,
    "assigned_fields": [],
    "additional_fields": [],
}


def drawn(rng: random.Random, count: int) -> list[Row]:
    """Return random contacts with many common values."""
    return [
        {
            "phone_number": f"+47{number:08}",
            "f_name": rng.choice(("Anna", "Annabel", "Bo", "Åse", None)),
            "l_name": rng.choice(("Berg", "Bø", "Berntsen", None)),
            "email": rng.choice((None, f"a{number % 9}@example.com", f"b{number}@example.com")),
            "tags": rng.choice(((), (), ("vip",), ("new",), ("vip", "new"))),
        }
        for number in rng.sample(range(10**8), count)
    ]


async def filled(database: Database, name: str, rows: list[Row]) -> int:
    """Create a list of contacts."""
    lists, contact_store = ListStore(database, now_ms), ContactStore(database, now_ms)
    async with database.writing() as connection:
        list_id = await lists.add(connection, "acme", {**A_LIST, "name": name})
        for row in rows:
            values = {name: each for name, each in row.items() if name != "tags"}
            contact_id = await contact_store.add(connection, "acme", list_id, values)
            tags = [
                {"list_id": list_id, "tag_id": tag, "contact_id": contact_id}
                for tag in row.get("tags", ())
            ]
            if tags:
                await connection.execute(sa.insert(contact_tags), tags)
        await adjust_contact_count(connection, list_id, len(rows))
    return list_id


def fits(filters: Filters, row: Row) -> bool:
    """Return whether a contact matches, without a database."""
    words = {"f_name": filters.f_name, "l_name": filters.l_name, "email": filters.email}
    begins = all(
        not word or normalize(row[name] or "").startswith(word) for name, word in words.items()
    )
    has_tag = not filters.tags or bool(set(filters.tags) & set(row["tags"]))
    return (
        begins
        and has_tag
        and (not filters.numbers or row["phone_number"].startswith(filters.numbers))
    )


def searches(rng: random.Random, list_ids: list[int]) -> Iterator[Filters]:
    """Yield random filters; tags are used in lists only."""
    for _ in range(50):
        list_id = rng.choice((None, *list_ids))
        yield Filters(
            "acme",
            list_id=list_id,
            f_name=rng.choice(("", "a", "ann", "annab", "å")),
            l_name=rng.choice(("", "b", "ber", "bø")),
            email=rng.choice(("", "", "a", "b1")),
            numbers=rng.choice(((), ("+471",), ("+4712", "+472"), ("+47", "+471"))),
            tags=rng.choice(((), (), ("vip",), ("vip", "new"))) if list_id else (),
        )


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(small=0, medium=0),
        Limits(small=0, medium=0, few=40),
        Limits(small=0, medium=0, few=0),
        Limits(small=0, medium=100, few=40),
    ],
    ids=["small", "all few", "some few", "none few", "medium"],
)
async def test_every_plan_finds_the_same(database: Database, limits: Limits) -> None:
    """The pages have all matches once, and the exact total."""
    await AccountStore(database, now_ms).add(Account("acme", "acme"))
    pages, rng = Pages(database, limits), random.Random(7)
    parts = [drawn(rng, 200), drawn(rng, 60)]
    rows = {await filled(database, "list", part): part for part in parts}
    for filters in searches(rng, list(rows)):
        visible = [each for list_id, part in rows.items() for each in part
                  if filters.list_id in (None, list_id)]  # fmt: skip
        expected = sorted(each["phone_number"] for each in visible if fits(filters, each))
        found = [await pages.read(filters, 90, offset) for offset in (0, 90, 180)]
        shown = [each.phone_number for page in found for each in page.contacts]
        assert sorted(shown) == expected, filters
        assert (found[0].total, found[0].total_is_exact) == (len(expected), True), filters


async def test_totals_have_a_limit(database: Database) -> None:
    """A total above the limit is a lower bound; on the last page it is exact."""
    await AccountStore(database, now_ms).add(Account("acme", "acme"))
    pages = Pages(database, Limits(small=0, medium=0, counted=40))
    rows = [{"phone_number": f"+47{each:08}", "f_name": "Anna"} for each in range(100)]
    list_id = await filled(database, "list", rows)
    named = Filters("acme", f_name="ann")
    page = await pages.read(named, 10, 0)
    assert (page.total, page.total_is_exact) == (40, False)
    page = await pages.read(named, 10, 50)
    assert (page.total, page.total_is_exact) == (61, False)
    page = await pages.read(replace(named, list_id=list_id), 10, 90)
    assert (page.total, page.total_is_exact) == (100, True)


@pytest.mark.parametrize(
    ("limits", "words", "total"),
    [
        # Few matches of the other filter are looked up by id, which reads no row.
        (Limits(small=0, medium=0, counted=40, few=101), {}, (40, False)),
        (Limits(small=0, medium=0, counted=40, few=100), {}, (4, False)),
        # A small list is read whole; so is a medium one, unless a filter has few matches.
        (Limits(small=100, medium=0, counted=40, few=0), {"list_id": 1}, (40, False)),
        (Limits(small=99, medium=0, counted=40, few=0), {"list_id": 1}, (4, False)),
        (Limits(small=0, medium=100, counted=40, few=0), {"list_id": 1}, (40, False)),
        (Limits(small=0, medium=99, counted=40, few=0), {"list_id": 1}, (4, False)),
        (
            Limits(small=0, medium=100, counted=40, few=12),
            {"list_id": 1, "email": "a1"},
            (4, False),
        ),
        # The filter with the fewest matches is scanned, as far as they were counted.
        (Limits(small=0, medium=0, counted=400, few=12), {"email": "a1"}, (11, True)),
        (Limits(small=0, medium=0, counted=400, few=11), {"email": "a1"}, (11, False)),
    ],
)
async def test_which_plan_counts_matches(
    database: Database, limits: Limits, words: dict[str, Any], total: tuple[int, bool]
) -> None:
    """The plan shows in the total, as fewer matches are counted where rows have to be read."""
    await AccountStore(database, now_ms).add(Account("acme", "acme"))
    rows = [
        {"phone_number": f"+47{each:08}", "f_name": "Anna", "email": f"a{each}@example.com"}
        for each in range(100)
    ]
    list_id = await filled(database, "list", rows)
    if "list_id" in words:
        words = {**words, "list_id": list_id}
    filters = Filters("acme", **{"f_name": "ann", "email": "a", **words})
    page = await Pages(database, limits).read(filters, 2, 0)
    assert (page.total, page.total_is_exact) == total
