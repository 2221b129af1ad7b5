"""Contact lists over HTTP: uploaded, mapped, imported."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.harness.api.contacts.uploads import (
    BASE,
    PHONES,
    contacts,
    imported,
    mapped,
    processed,
    sent,
    uploaded,
)
from tests.harness.api.serving import Served

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


def words(contact: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values of a contact's row."""
    names = ("phoneNumber", "fName", "lName", "email", "fields")
    return tuple(contact.get(name) for name in names)


async def test_from_a_file_to_contacts(served: Served) -> None:
    """A file is uploaded, previewed, mapped and imported; the list shows each state."""
    data = {"description": "Who asked", "isDefault": True, "assignedFields": ["city"]}
    list_id = await uploaded(served, FILE, **data)
    _, look = await served.request("GET", f"{BASE}/preview/{list_id}")
    assert look["headers"] == list(MAPPINGS)
    assert look["rows"][1] == ["+4790000002", "Ola", "Ødegaard", "", "Bergen"]
    assert (look["kind"], look["encoding"], look["delimiter"]) == ("csv", "utf-8", ",")
    await mapped(served, list_id, MAPPINGS)
    found = await processed(served, list_id)
    assert (found["status"], found["contacts"], found["isDefault"]) == ("COMPLETED", 2, True)
    result = found["processing"]
    assert [result[each] for each in ("rows", "total", "added", "rejected")] == [2, 2, 2, 0]
    nina, ola = map(words, await contacts(served, list_id))
    assert nina == ("+4790000001", "Nina", "Berg", "nina@example.com", {"city": "Oslo"})
    assert ola == ("+4790000002", "Ola", "Ødegaard", None, {"city": "Bergen"})
    _, same = await served.request("GET", f"{BASE}/get-contactList-by-Id/{list_id}")
    assert same == found


@pytest.mark.parametrize("name", ["tags", " contactId", "createdTime", "callStatus"])
async def test_a_field_is_no_column_of_downloads(served: Served, name: str) -> None:
    """Two columns of one name could not be distinguished, nor imported again."""
    body = {"name": "Callers", "description": "", "assignedFields": ["city", name]}
    status, answer = await served.request("POST", f"{BASE}/inbound-contact-list", "acme", body)
    assert (status, answer["errors"][0]["path"]) == (400, "assignedFields[1]")
    assert answer["errors"][0]["message"].startswith(f"{name.strip()} is a column of each download")
    status, answer = await sent(served, FILE, assignedFields=[name])
    assert (status, answer["errors"][0]["path"]) == (400, "data.assignedFields[0]")
    body = {"name": "Callers", "description": "", "assignedFields": ["shoe  size", "shoe size"]}
    _, found = await served.request("POST", f"{BASE}/inbound-contact-list", "acme", body)
    assert found["assignedFields"] == ["shoe size"]


async def test_numbers_are_unique_in_a_list(served: Served) -> None:
    """Duplicates, in the list or the file, are skipped, or updated by non-empty cells."""
    file = b"Phone,Name,City\n+4790000001,Nina,Oslo\n+4790000001,Tina,\n+4790000002,Ola,Bergen\n"
    mappings = {"Phone": "phoneNumber", "Name": "fName", "City": "city"}
    list_id, result = await imported(served, file, mappings, assignedFields=["city", "zip"])
    assert (result["added"], result["skipped"], result["updated"]) == (2, 1, 0)
    assert (await contacts(served, list_id))[0]["fName"] == "Nina"
    result = (await processed(served, list_id))["processing"]
    assert (result["added"], result["skipped"], result["updated"]) == (0, 3, 0)
    change = b"Tel;Zip;Name\n+47 90000001;0150;\n+4790000003;;Kari\n+4790000001;0151;Mina\n"
    status, _ = await sent(served, change, path=f"/updatecontactlist/{list_id}", method="PATCH")
    assert status == 200
    await mapped(served, list_id, {"Tel": "phoneNumber", "Zip": "zip", "Name": "fName"})
    found = await processed(served, list_id, action="update")
    result = found["processing"]
    assert (result["added"], result["skipped"], result["updated"], found["contacts"]) == (
        1,
        0,
        2,
        3,
    )
    nina = words((await contacts(served, list_id))[0])
    assert nina == ("+4790000001", "Mina", None, None, {"city": "Oslo", "zip": "0151"})


async def test_numbers_are_of_the_accounts_region(served: Served) -> None:
    """Numbers without + belong to the account's region."""
    account = await served.services.accounts.get("acme")
    await served.services.accounts.change(replace(account, region="NO"))
    list_id, result = await imported(served, b"Phone\n90000001\n0047 90 00 00 02\n+46701234567\n")
    assert result["rejected"] == 0
    numbers = [each["phoneNumber"] for each in await contacts(served, list_id)]
    assert numbers == ["+46701234567", "+4790000001", "+4790000002"]


async def test_mappings_are_validated(served: Served) -> None:
    """All errors are reported at once."""
    list_id = await uploaded(served, FILE)
    path = f"{BASE}/map-fields/{list_id}"
    body = {"mappings": {"Fax": "phoneNumber", "City": "city", "First name": "fName"}}
    assert await served.faults("POST", path, body) == {"mappings.Fax", "mappings.City"}
    body = {"mappings": {"City": "fName", "First name": "fName"}}
    assert await served.faults("POST", path, body) == {"mappings.First name", "mappings"}
    assert await served.faults("POST", path, {"mappings": {}}) == {"mappings"}
    assert await served.faults("POST", path, {}) == {"mappings"}
    assert (await served.request("POST", f"{BASE}/process-file/{list_id}"))[0] == 409
    await mapped(served, list_id, PHONES)
    assert await served.faults("POST", f"{BASE}/process-file/{list_id}", action="all") == {"action"}


async def test_a_list_is_locked_during_its_import(served: Served) -> None:
    """It cannot be mapped, changed or imported again."""
    list_id = await uploaded(served, FILE)
    await mapped(served, list_id, PHONES)
    assert (await served.request("POST", f"{BASE}/process-file/{list_id}"))[0] == 200
    again = await served.request("POST", f"{BASE}/process-file/{list_id}")
    assert (again[0], again[1]["code"]) == (409, "processing")
    body = {"mappings": PHONES}
    assert (await served.request("POST", f"{BASE}/map-fields/{list_id}", "acme", body))[0] == 409
    path = f"/updatecontactlist/{list_id}"
    assert (await sent(served, FILE, path=path, method="PATCH"))[0] == 409
