"""Contact lists for tests, with contacts."""

from typing import Any

import sqlalchemy as sa

from api.contacts.contacts.store import with_search_keys
from api.contacts.list_store import ListStore, adjust_contact_count
from api.contacts.tables import contact_tags, contacts
from api.services import Services

BASE = "/srmain/contacts_list"
NAMES = (("Nina", "Berg"), ("Åse", "Bø"), ("Anna", "Berntsen"), ("Annabel", "Dahl"))


async def a_list(parts: Services, account: str = "acme", name: str = "Spring", **more: Any) -> str:
    """Create an empty list; return its id."""
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
        lists = ListStore(parts.database, parts.now_ms)
        return str(await lists.add(connection, account, values))


async def contacts_in(
    parts: Services,
    list_id: str,
    *rows: dict[str, Any],
    account: str = "acme",
    tags: tuple[str, ...] = (),
) -> list[str]:
    """Add contacts to a list; return their ids."""
    now_ms, owner = parts.now_ms(), {"account_id": account, "list_id": int(list_id)}
    nothing = dict.fromkeys(("f_name", "l_name", "email", "fields"))
    times = {"created_ms": now_ms, "updated_ms": now_ms, "add_to_running_campaign": False}
    whole = [with_search_keys({**nothing, **times, **owner, **row}) for row in rows]
    async with parts.database.writing() as connection:
        adding = sa.insert(contacts).returning(contacts.c.id, sort_by_parameter_order=True)
        found = list((await connection.execute(adding, whole)).scalars())
        for tag in tags:
            tagged = [
                {"list_id": int(list_id), "tag_id": tag, "contact_id": each} for each in found
            ]
            await connection.execute(sa.insert(contact_tags), tagged)
        await adjust_contact_count(connection, int(list_id), len(rows))
    return [str(each) for each in found]


def some(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Return contacts with numbers and names, the same in each call."""
    return [
        {
            "phone_number": f"+4790{number:06}",
            "f_name": NAMES[number % 4][0],
            "l_name": NAMES[number % 4][1],
            "email": f"{number}@example.com",
        }
        for number in range(first, first + count)
    ]
