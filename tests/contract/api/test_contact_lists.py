"""Contact lists over HTTP: uploaded, mapped, processed, changed, deleted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.contacts.tables import contacts as contact_rows
from api.contacts.tables import file_parts, files, imports, lists, rejects
from tests.contract.api.serving import Served, serving
from tests.contract.api.uploads import (
    BASE,
    PHONES,
    contacts,
    mapped,
    processed,
    rejected,
    sent,
    taken,
    uploaded,
    worked,
)

FILE = (
    b"Phone,First name,Last name,Mail,City\r\n"
    b"+47 900 00 001,Nina,Berg,nina@example.com,Oslo\r\n"
    b"+4790000002,Ola,\xc3\x98degaard,,Bergen\r\n"
)
MAPPINGS = {
    "Phone": "phoneNumber",
    "First name": "fName",
    "Last name": "lName",
    "Mail": "email",
    "City": "city",
}


@pytest.fixture
async def rest(database_url: str) -> AsyncIterator[Served]:
    """Serve."""
    async with serving(database_url) as found:
        yield found


def words(contact: dict[str, Any]) -> tuple[Any, ...]:
    """Give what a contact's row said."""
    names = ("phoneNumber", "fName", "lName", "email", "fields")
    return tuple(contact.get(name) for name in names)


async def test_from_a_file_to_contacts(rest: Served) -> None:
    """Uploaded, looked at, mapped, processed: every state is shown on the way."""
    data = {"description": "Who asked", "isDefault": True, "assignedFields": ["city"]}
    list_id = await uploaded(rest, FILE, **data)
    _, look = await rest.ask("GET", f"{BASE}/preview/{list_id}")
    assert look["headers"] == list(MAPPINGS)
    assert look["rows"][1] == ["+4790000002", "Ola", "Ødegaard", "", "Bergen"]
    assert (look["kind"], look["encoding"], look["delimiter"]) == ("csv", "utf-8", ",")
    await mapped(rest, list_id, MAPPINGS)
    found = await processed(rest, list_id)
    assert (found["status"], found["contacts"], found["isDefault"]) == ("COMPLETED", 2, True)
    told = found["processing"]
    assert [told[each] for each in ("rows", "total", "added", "rejected")] == [2, 2, 2, 0]
    nina, ola = map(words, await contacts(rest, list_id))
    assert nina == ("+4790000001", "Nina", "Berg", "nina@example.com", {"city": "Oslo"})
    assert ola == ("+4790000002", "Ola", "Ødegaard", None, {"city": "Bergen"})
    _, same = await rest.ask("GET", f"{BASE}/get-contactList-by-Id/{list_id}")
    assert same == found


async def test_numbers_are_in_a_list_once(rest: Served) -> None:
    """Skipped, or updated where a cell says something; also when they come twice in a file."""
    file = b"Phone,Name,City\n+4790000001,Nina,Oslo\n+4790000001,Tina,\n+4790000002,Ola,Bergen\n"
    mappings = {"Phone": "phoneNumber", "Name": "fName", "City": "city"}
    list_id, told = await taken(rest, file, mappings, assignedFields=["city", "zip"])
    assert (told["added"], told["skipped"], told["updated"]) == (2, 1, 0)
    assert (await contacts(rest, list_id))[0]["fName"] == "Nina"
    told = (await processed(rest, list_id))["processing"]
    assert (told["added"], told["skipped"], told["updated"]) == (0, 3, 0)
    change = b"Tel;Zip;Name\n+47 90000001;0150;\n+4790000003;;Kari\n+4790000001;0151;Mina\n"
    status, _ = await sent(rest, change, path=f"/updatecontactlist/{list_id}", method="PATCH")
    assert status == 200
    await mapped(rest, list_id, {"Tel": "phoneNumber", "Zip": "zip", "Name": "fName"})
    found = await processed(rest, list_id, action="update")
    told = found["processing"]
    assert (told["added"], told["skipped"], told["updated"], found["contacts"]) == (1, 0, 2, 3)
    nina = words((await contacts(rest, list_id))[0])
    assert nina == ("+4790000001", "Mina", None, None, {"city": "Oslo", "zip": "0151"})


async def test_a_rejected_row_stops_nothing(rest: Served) -> None:
    """Each is kept with its line and why, and can be downloaded, mended, and sent again."""
    file = (
        b"Phone,Mail\n+4790000001,\xc3\xa5@example.com\n12,=1+1\n"
        b'"never closed,x\n+4790000002,nobody\n'
        b"+4790000003,a\0b\n+4790000004,\xff\n,x\n1,2,3\n+4790000005,e@example.com\n"
    )
    list_id, told = await taken(rest, file, {"Phone": "phoneNumber", "Mail": "email"})
    assert (told["rows"], told["added"], told["rejected"]) == (9, 2, 7)
    rows = await rejected(rest, list_id)
    assert [(int(row[0]), row[1].partition(":")[0]) for row in rows] == [
        (3, "phoneNumber"),
        (4, "broken quoting"),
        (5, "email"),
        (6, "control characters, such as NUL"),
        (7, "letters that are not of the file's encoding"),
        (8, "phoneNumber"),
        (9, "3 cells, but there are 2 columns"),
    ]
    assert rows[0][2:] == ["12", "'=1+1"]
    _, found = await rest.ask("GET", f"{BASE}/contactlists/{list_id}")
    assert found["processing"]["rejectedRowsPath"] == f"{BASE}/rejected-rows/{list_id}"


async def test_numbers_are_of_the_accounts_region(rest: Served) -> None:
    """Those without a + are."""
    account = await rest.parts.accounts.get("acme")
    await rest.parts.accounts.change(replace(account, region="NO"))
    list_id, told = await taken(rest, b"Phone\n90000001\n0047 90 00 00 02\n+46701234567\n")
    assert told["rejected"] == 0
    numbers = [each["phoneNumber"] for each in await contacts(rest, list_id)]
    assert numbers == ["+46701234567", "+4790000001", "+4790000002"]


async def test_mappings_are_checked(rest: Served) -> None:
    """All that is wrong is told at once."""
    list_id = await uploaded(rest, FILE)
    path = f"{BASE}/map-fields/{list_id}"
    body = {"mappings": {"Fax": "phoneNumber", "City": "city", "First name": "fName"}}
    assert await rest.faults("POST", path, body) == {"mappings.Fax", "mappings.City"}
    body = {"mappings": {"City": "fName", "First name": "fName"}}
    assert await rest.faults("POST", path, body) == {"mappings.First name", "mappings"}
    assert await rest.faults("POST", path, {"mappings": {}}) == {"mappings"}
    assert await rest.faults("POST", path, {}) == {"mappings"}
    assert (await rest.ask("POST", f"{BASE}/process-file/{list_id}"))[0] == 409
    await mapped(rest, list_id, PHONES)
    assert await rest.faults("POST", f"{BASE}/process-file/{list_id}", action="all") == {"action"}


async def test_what_is_processed_is_left_alone(rest: Served) -> None:
    """Neither mapped, nor changed, nor begun again until it is done."""
    list_id = await uploaded(rest, FILE)
    await mapped(rest, list_id, PHONES)
    assert (await rest.ask("POST", f"{BASE}/process-file/{list_id}"))[0] == 200
    again = await rest.ask("POST", f"{BASE}/process-file/{list_id}")
    assert (again[0], again[1]["code"]) == (409, "processing")
    body = {"mappings": PHONES}
    assert (await rest.ask("POST", f"{BASE}/map-fields/{list_id}", "acme", body))[0] == 409
    path = f"/updatecontactlist/{list_id}"
    assert (await sent(rest, FILE, path=path, method="PATCH"))[0] == 409


async def test_lists_are_listed(rest: Served) -> None:
    """The newest first, by part of a name, state and tags; one is the default."""
    spring = await uploaded(rest, FILE, name="Spring 2026", isDefault=True)
    autumn = await uploaded(rest, FILE, name="HØST 2026", isDefault=True, isActive=False)
    body = {"name": "Callers", "description": "", "assignedFields": ["city"]}
    status, callers = await rest.ask("POST", f"{BASE}/inbound-contact-list", "acme", body)
    assert (status, callers["status"], callers["file"]) == (201, "CREATED", None)

    async def found(**query: Any) -> list[str]:
        status, page = await rest.ask("GET", f"{BASE}/contactlists", **query)
        assert status == 200, page
        return [each["contactListId"] for each in page["data"]]

    assert await found() == [callers["contactListId"], autumn, spring]
    assert await found(name="høst") == [autumn]
    assert await found(name="_") == []
    assert await found(status="CREATED") == [callers["contactListId"]]
    assert await found(limit=1, offset=1) == [autumn]
    assert await found(tags="gold") == []
    _, page = await rest.ask("GET", f"{BASE}/contactlists", limit=1)
    assert page["total"] == 3
    _, page = await rest.ask("GET", f"{BASE}/contactlists")
    assert [each["isDefault"] for each in page["data"]] == [False, True, False]
    for name, value in {"limit": 0, "offset": -1, "status": "DONE", "tags": "a b"}.items():
        assert await rest.faults("GET", f"{BASE}/contactlists", None, **{name: value}) == {name}


async def test_a_list_is_changed(rest: Served) -> None:
    """What is left out stays; the one state that can be said is that of mapped columns."""
    list_id = await uploaded(rest, FILE)
    path = f"/updatecontactlist/{list_id}"
    data: dict[str, Any] = {"name": "Winter", "description": "Cold", "isActive": False}
    status, found = await sent(rest, None, path=path, method="PATCH", **data)
    assert (status, found["name"], found["isActive"]) == (200, "Winter", False)
    assert (found["status"], found["file"]["name"]) == ("UPLOADED", "contacts.csv")
    status, told = await sent(rest, None, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, told["errors"][0]["path"]) == (400, "data.status")
    await mapped(rest, list_id, PHONES)
    await processed(rest, list_id)
    status, found = await sent(rest, None, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, found["status"]) == (200, "MAPPING_DONE")
    bad: dict[str, Any] = {"status": "COMPLETED", "name": "", "size": 1}
    for name, value in bad.items():
        status, told = await sent(rest, None, path=path, method="PATCH", **{name: value})
        assert (status, told["errors"][0]["path"]) == (400, f"data.{name}"), told
    assert (await sent(rest, None, path=path, method="PATCH"))[0] == 400


async def test_a_deleted_list_leaves_nothing(rest: Served) -> None:
    """Out of sight at once; its contacts, file and rejected rows go in the background."""
    file = b"Phone\n+4790000001\nnobody\n"
    list_id, _ = await taken(rest, file, isDefault=True)
    status, gone = await rest.ask("DELETE", f"{BASE}/delete-file/{list_id}")
    assert (status, gone) == (200, {"contactListId": list_id, "deleted": True})
    assert (await rest.ask("DELETE", f"{BASE}/delete-file/{list_id}"))[0] == 404
    assert (await rest.ask("GET", f"{BASE}/contactlists"))[1]["total"] == 0
    assert (await rest.ask("GET", f"{BASE}/all-contacts"))[1]["data"] == []
    assert await worked(rest)
    async with rest.parts.database.reading() as connection:
        for table in (contact_rows, lists, files, file_parts, imports, rejects):
            rows = await connection.execute(sa.select(sa.func.count()).select_from(table))
            assert rows.scalar_one() == 0, table.name


async def test_a_list_that_is_deleted_while_it_is_processed(rest: Served) -> None:
    """Its job ends; nothing of it comes back."""
    list_id = await uploaded(rest, FILE)
    await mapped(rest, list_id, PHONES)
    assert (await rest.ask("POST", f"{BASE}/process-file/{list_id}"))[0] == 200
    assert (await rest.ask("DELETE", f"{BASE}/delete-file/{list_id}"))[0] == 200
    while await worked(rest):
        pass
    async with rest.parts.database.reading() as connection:
        rows = await connection.execute(sa.select(sa.func.count()).select_from(lists))
        assert rows.scalar_one() == 0


async def test_another_accounts_list_is_not_there(rest: Served) -> None:
    """Whatever is asked of it, and whatever its id is."""
    list_id, _ = await taken(rest, FILE)
    for method, path, body in (
        ("GET", "get-contactList-by-Id", None),
        ("GET", "contactlists", None),
        ("GET", "preview", None),
        ("GET", "rejected-rows", None),
        ("POST", "map-fields", {"mappings": PHONES}),
        ("POST", "process-file", None),
        ("DELETE", "delete-file", None),
    ):
        for each in (list_id, "0", "x", "9" * 30, "%00"):
            status, _ = await rest.ask(method, f"{BASE}/{path}/{each}", "other", body)
            assert status == 404, (path, each)
        assert (await rest.ask(method, f"{BASE}/{path}/{list_id}", "", body))[0] == 401
    path = f"/updatecontactlist/{list_id}"
    assert (await sent(rest, FILE, who="other", path=path, method="PATCH"))[0] == 404
    assert (await sent(rest, FILE, who="", path=path, method="PATCH"))[0] == 401
    assert (await rest.ask("GET", f"{BASE}/contactlists", "other"))[1]["total"] == 0
