"""Contact lists for tests, with contacts in them."""

from typing import Any

import sqlalchemy as sa

from api.app import Parts
from api.contacts.people.store import People
from api.contacts.store import Lists, counted
from api.contacts.tables import contact_tags

BASE = "/srmain/contacts_list"
NAMES = (("Nina", "Berg"), ("Åse", "Bø"), ("Anna", "Berntsen"), ("Annabel", "Dahl"))


async def a_list(parts: Parts, account: str = "acme", name: str = "Spring", **more: Any) -> str:
    """Make an empty list; gives its id."""
    values = {
        "name": name,
        "description": "",
        "status": "COMPLETED",
        "is_default": False,
        "is_active": True,
        "assigned_fields": [],
        "additional_fields": [],
        **more,
    }
    async with parts.database.writing() as connection:
        lists = Lists(parts.database, parts.now_ms)
        return str(await lists.add(connection, account, values))


async def contacts_in(
    parts: Parts,
    list_id: str,
    *rows: dict[str, Any],
    account: str = "acme",
    tags: tuple[str, ...] = (),
) -> list[str]:
    """Put contacts into a list; gives their ids."""
    people = People(parts.database, parts.now_ms)
    found = []
    async with parts.database.writing() as connection:
        for row in rows:
            contact_id = await people.add(connection, account, int(list_id), row)
            found.append(str(contact_id))
            for tag in tags:
                tagged = {"list_id": int(list_id), "tag_id": tag, "contact_id": contact_id}
                await connection.execute(sa.insert(contact_tags).values(tagged))
        await counted(connection, int(list_id), len(rows))
    return found


def some(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Give contacts with numbers and names, the same at each time."""
    return [
        {
            "phone_number": f"+4790{number:06}",
            "f_name": NAMES[number % 4][0],
            "l_name": NAMES[number % 4][1],
            "email": f"{number}@example.com",
        }
        for number in range(first, first + count)
    ]
