"""Fills a database with contacts."""

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import sqlalchemy as sa

from api.contacts.search_keys import normalize
from api.contacts.tables import contact_tags, contacts, lists
from api.db.database import Database
from tools.bench.rest.bulk_insert import change_indexes, finish, insert

TABLES = (contacts, contact_tags)
CHUNK = 50_000
TAGGED = 20  # one contact in twenty has the tag
SHARES = (0.4, 0.2, 0.2, *[0.02] * 8, *[0.002] * 20)  # of each list in all contacts
STARTS = ("An", "Be", "Kar", "Mar", "Ol", "So", "To", "Kri", "Jo", "El", "Li", "Ha", "Ås", "Ei")
MIDS = ("", "n", "ri", "li", "te", "ra", "no", "mi", "de", "sa", "vo", "ka", "ni")
ENDS = ("a", "e", "o", "us", "en", "in", "ja", "na", "ne", "ar", "stad", "sen", "berg", "dal")
Row = tuple[Any, ...]


async def fill(database: Database, count: int) -> list[int]:
    """Insert `count` contacts of `acme`; returns the list ids, the largest list first."""
    list_ids = list(range(1, len(SHARES) + 1))
    sizes = [int(count * share) for share in SHARES]
    async with database.writing() as connection:
        rows = [_list(*each) for each in zip(list_ids, sizes, strict=True)]
        await connection.execute(sa.insert(lists), rows)
    await change_indexes(database, TABLES, "drop")
    contact_rows = _contacts(list_ids, sizes)
    while chunk := list(islice(contact_rows, CHUNK)):
        tags = [(row[2], "vip", row[0]) for row in chunk if row[0] % TAGGED == 0]
        async with database.writing() as connection:
            await insert(connection, contacts, chunk)
            await insert(connection, contact_tags, tags)
    await change_indexes(database, TABLES, "create")
    await finish(database, [lists], len(list_ids))
    await finish(database, TABLES, sum(sizes))
    return list_ids


def names(count: int, chance: random.Random) -> list[str]:
    """Return random names, the most common first."""
    drawn = (
        chance.choice(STARTS) + chance.choice(MIDS) * 2 + chance.choice(ENDS) for _ in range(count)
    )
    return list(dict.fromkeys(drawn))


def common(chance: random.Random, some: list[str]) -> str:
    """Return a random name; few are common, most are rare."""
    return some[int(len(some) * chance.random() ** 3)]


def _contacts(list_ids: list[int], sizes: list[int]) -> Iterator[Row]:
    chance = random.Random(3)
    firsts, lasts = names(3_000, chance), names(6_000, chance)
    contact_id = 0
    for list_id, size in zip(list_ids, sizes, strict=True):
        for _ in range(size):
            contact_id += 1
            first, last = common(chance, firsts), common(chance, lasts)
            email = f"{first}.{last}{contact_id}@example.com"
            number = f"+47{(contact_id * 7_919_993) % 10**8:08}"
            yield (
                contact_id, "acme", list_id, number, first, last, email,
                normalize(first), normalize(last), normalize(email), None, None, False, 0, 0,
            )  # fmt: skip


def _list(list_id: int, size: int) -> dict[str, Any]:
    return {
        "id": list_id,
        "account_id": "acme",
        "name": f"List {list_id}",
        "name_key": f"list {list_id}",
        "description": "",
        "status": "COMPLETED",
        "is_default": False,
        "is_active": True,
        "is_deleted": False,
        "assigned_fields": [],
        "additional_fields": [],
        "contacts": size,
        "created_ms": 0,
        "updated_ms": 0,
    }
