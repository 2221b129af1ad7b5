"""Contact lists over HTTP: listed, changed, deleted; isolated by account."""

from typing import Any

import sqlalchemy as sa

from api.contacts.tables import contacts, file_parts, files, imports, lists, rejects
from tests.harness.api.contacts import uploads
from tests.harness.api.contacts.uploads import (
    BASE,
    PHONES,
    imported,
    mapped,
    processed,
    run_job,
    sent,
    uploaded,
)
from tests.harness.api.serving import Served

FILE = b"Phone,Name\n+4790000001,Nina\n+4790000002,Ola\n"


async def test_lists_are_listed(served: Served) -> None:
    """Lists are newest first and filtered by name, status and tags; one is the default."""
    spring = await uploaded(served, FILE, name="Spring 2026", isDefault=True)
    autumn = await uploaded(served, FILE, name="HØST 2026", isDefault=True, isActive=False)
    body = {"name": "Callers", "description": "", "assignedFields": ["city"]}
    status, callers = await served.request("POST", f"{BASE}/inbound-contact-list", "acme", body)
    assert (status, callers["status"], callers["file"]) == (201, "CREATED", None)

    async def found(**query: Any) -> list[str]:
        status, page = await served.request("GET", f"{BASE}/contactlists", **query)
        assert status == 200, page
        return [each["contactListId"] for each in page["data"]]

    assert await found() == [callers["contactListId"], autumn, spring]
    assert await found(name="høst") == [autumn]
    assert await found(name="_") == []
    assert await found(status="CREATED") == [callers["contactListId"]]
    assert await found(limit=1, offset=1) == [autumn]
    assert await found(tags="gold") == []
    assert await found(status="DONE") == []
    _, page = await served.request("GET", f"{BASE}/contactlists", limit=1)
    assert page["total"] == 3
    _, page = await served.request("GET", f"{BASE}/contactlists")
    assert [each["isDefault"] for each in page["data"]] == [False, True, False]
    for name, value in {"limit": 0, "offset": -1, "tags": "a" * 65}.items():
        assert await served.faults("GET", f"{BASE}/contactlists", None, **{name: value}) == {name}


async def test_a_list_is_changed(served: Served) -> None:
    """Omitted fields stay; MAPPING_DONE is the only status that can be set."""
    list_id = await uploaded(served, FILE)
    path = f"/updatecontactlist/{list_id}"
    data: dict[str, Any] = {"name": "Winter", "description": "Cold", "isActive": False}
    status, found = await sent(served, None, path=path, method="PATCH", **data)
    assert (status, found["name"], found["isActive"]) == (200, "Winter", False)
    assert (found["status"], found["file"]["name"]) == ("UPLOADED", "contacts.csv")
    status, result = await sent(served, None, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, result["errors"][0]["path"]) == (400, "data.status")
    await mapped(served, list_id, PHONES)
    await processed(served, list_id)
    status, found = await sent(served, None, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, found["status"]) == (200, "MAPPING_DONE")
    bad: dict[str, Any] = {"status": "COMPLETED", "name": " ", "size": 1}
    for name, value in bad.items():
        status, result = await sent(served, None, path=path, method="PATCH", **{name: value})
        assert (status, result["errors"][0]["path"]) == (400, f"data.{name}"), result
    status, found = await sent(served, None, path=path, method="PATCH")
    assert (status, found["name"]) == (200, "Winter")


async def test_a_file_and_its_mapping_in_one_change(served: Served) -> None:
    """The columns are mapped as before, or by the names of fields; else map-fields comes first."""
    list_id = await uploaded(served, FILE)
    path = f"/updatecontactlist/{list_id}"
    await mapped(served, list_id, PHONES)
    status, found = await sent(served, FILE, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, found["status"]) == (200, "MAPPING_DONE"), found
    assert (await processed(served, list_id))["contacts"] == 2
    named = b"phoneNumber,email\n+4790000003,ann@example.com\n"
    status, found = await sent(served, named, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, found["status"]) == (200, "MAPPING_DONE"), found
    strange = b"a,b\n+4790000003,x\n"
    status, result = await sent(served, strange, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, result["errors"][0]["path"]) == (400, "data.status")
    _, after = await served.request("GET", f"{BASE}/contactlists/{list_id}")
    assert after["file"]["name"] == found["file"]["name"]


async def test_a_field_that_the_list_no_longer_has(served: Served) -> None:
    """Its column is not imported, though it was mapped before."""
    list_id = await uploaded(served, FILE, assignedFields=["city"])
    await mapped(served, list_id, {**PHONES, "Name": "city"})
    path = f"/updatecontactlist/{list_id}"
    status, found = await sent(served, None, path=path, method="PATCH", assignedFields=[])
    assert (status, found["assignedFields"]) == (200, [])
    assert (await processed(served, list_id))["contacts"] == 2
    assert [each["fields"] for each in await uploads.contacts(served, list_id)] == [{}, {}]


async def test_a_list_without_a_file_takes_the_status(served: Served) -> None:
    """It is stored; there is nothing to map."""
    body = {"name": "Callers", "description": "", "assignedFields": ["city", "fName", "city"],
            "additionalFields": ["shoe", "city"]}  # fmt: skip
    _, callers = await served.request("POST", f"{BASE}/inbound-contact-list", "acme", body)
    assert callers["assignedFields"] == ["city", "shoe"]
    path = f"/updatecontactlist/{callers['contactListId']}"
    status, found = await sent(served, None, path=path, method="PATCH", status="MAPPING_DONE")
    assert (status, found["status"]) == (200, "MAPPING_DONE")


async def test_the_default_list_is_downloaded(served: Served) -> None:
    """A download request without contactListId exports the default list, if there is one."""
    status, result = await served.request("POST", f"{BASE}/download-requests", "acme", {})
    assert (status, result["errors"][0]["path"]) == (400, "contactListId")
    list_id = await uploaded(served, FILE, isDefault=True)
    status, found = await served.request("POST", f"{BASE}/download-requests", "acme", {})
    assert (status, found["contactListId"]) == (201, list_id)


async def test_a_deleted_list_leaves_nothing(served: Served) -> None:
    """It is hidden at once; contacts, file and rejected rows are deleted in the background."""
    file = b"Phone\n+4790000001\nnobody\n"
    list_id, _ = await imported(served, file, isDefault=True)
    status, deletion = await served.request("DELETE", f"{BASE}/delete-file/{list_id}")
    assert (status, deletion) == (200, {"contactListId": list_id, "deleted": True})
    assert (await served.request("DELETE", f"{BASE}/delete-file/{list_id}"))[0] == 404
    assert (await served.request("GET", f"{BASE}/contactlists"))[1]["total"] == 0
    assert (await served.request("GET", f"{BASE}/all-contacts"))[1]["data"] == []
    assert await run_job(served)
    async with served.services.database.reading() as connection:
        for table in (contacts, lists, files, file_parts, imports, rejects):
            rows = await connection.execute(sa.select(sa.func.count()).select_from(table))
            assert rows.scalar_one() == 0, table.name


async def test_a_list_that_is_deleted_during_its_import(served: Served) -> None:
    """The job ends, and the list stays deleted."""
    list_id = await uploaded(served, FILE)
    await mapped(served, list_id, PHONES)
    assert (await served.request("POST", f"{BASE}/process-file/{list_id}"))[0] == 200
    assert (await served.request("DELETE", f"{BASE}/delete-file/{list_id}"))[0] == 200
    while await run_job(served):
        pass
    async with served.services.database.reading() as connection:
        rows = await connection.execute(sa.select(sa.func.count()).select_from(lists))
        assert rows.scalar_one() == 0


async def test_another_accounts_list_is_not_found(served: Served) -> None:
    """Every request with a foreign or invalid id gets 404."""
    list_id, _ = await imported(served, FILE)
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
            status, _ = await served.request(method, f"{BASE}/{path}/{each}", "other", body)
            assert status == 404, (path, each)
        assert (await served.request(method, f"{BASE}/{path}/{list_id}", "", body))[0] == 401
    path = f"/updatecontactlist/{list_id}"
    assert (await sent(served, FILE, who="other", path=path, method="PATCH"))[0] == 404
    assert (await sent(served, FILE, who="", path=path, method="PATCH"))[0] == 401
    assert (await served.request("GET", f"{BASE}/contactlists", "other"))[1]["total"] == 0
