"""Requests of contacts with a repeated `Idempotency-Key` are executed once."""

from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from api.http.idempotency import responses
from tests.harness.api.contacts.lists import BASE, a_list, some
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.smtp import Mailbox

KEY = {"Idempotency-Key": "k-1"}
FILE = b"Phone\n+4790000001\n"
NEW = {"phoneNumber": some(1)[0]["phone_number"]}
CALLERS = {"name": "Callers", "description": ""}


def form(content: bytes = FILE, name: str = "Spring") -> dict[str, Any]:
    """Return the parts of an upload."""
    return {"files": {"file": ("a.csv", content)}, "data": {"data": f'{{"name": "{name}"}}'}}


async def twice(rest: Rest, method: str, path: str, body: object = None, **more: Any) -> Any:
    """Send a request twice with one key; return the response, which must be the same."""
    first = await rest.request(method, path, body, headers=KEY, **more)
    again = await rest.request(method, path, body, headers=KEY, **more)
    assert first.is_success, first.text
    assert (again.status_code, again.text) == (first.status_code, first.text)
    return first.json()


async def total(rest: Rest, path: str) -> int:
    """Return the total of a list."""
    return int((await rest.request("GET", f"{BASE}/{path}")).json()["total"])


@pytest.mark.parametrize(
    ("path", "body", "counted"),
    [
        ("contactNumber", NEW, "all-contacts"),
        ("download-requests", {"format": "csv"}, "download-requests"),
    ],
)
async def test_of_a_list(kept: Rest, path: str, body: dict[str, str], counted: str) -> None:
    """A contact or download is created once; the key with another body is rejected."""
    request_body = {**body, "contactListId": await a_list(kept.services)}
    await twice(kept, "POST", f"{BASE}/{path}", request_body)
    assert await total(kept, counted) == 1
    other = {**request_body, "contactListId": await a_list(kept.services)}
    problem = await kept.rejected("POST", f"{BASE}/{path}", other, headers=KEY)
    assert problem == (400, "idempotency_key_reused", ["Idempotency-Key"])


async def test_a_large_response_is_not_kept(kept: Rest) -> None:
    """Only its ids: the repetition learns from 409 that the request was done, and does nothing."""
    names = [f"f{number}" for number in range(17)]
    list_id = await a_list(kept.services, assigned_fields=names)
    body = {**NEW, "contactListId": list_id, "fields": dict.fromkeys(names, "x" * 1_024)}
    first = await kept.request("POST", f"{BASE}/contactNumber", body, headers=KEY)
    assert first.is_success, first.text
    stored = await kept.services.database.scalar(sa.select(responses.c.response))
    again = await kept.request("POST", f"{BASE}/contactNumber", body, headers=KEY)
    assert len(stored) < 200
    assert (again.status_code, again.json()["code"]) == (409, "response_not_kept")
    assert f"contactId {first.json()['contactId']}" in again.json()["detail"]
    assert await total(kept, "all-contacts") == 1


async def test_a_list_without_a_file(kept: Rest) -> None:
    """The list is created once."""
    await twice(kept, "POST", f"{BASE}/inbound-contact-list", CALLERS)
    assert await total(kept, "contactlists") == 1


async def test_a_file(kept: Rest) -> None:
    """Content and fields identify an upload, not the encoding of the form."""
    made = await twice(kept, "POST", f"{BASE}/upload", **form())
    assert await total(kept, "contactlists") == 1
    for other in (form(FILE * 2), form(name="Autumn")):
        problem = await kept.rejected("POST", f"{BASE}/upload", headers=KEY, **other)
        assert problem == (400, "idempotency_key_reused", ["Idempotency-Key"])
    preview = (await kept.request("GET", f"{BASE}/preview/{made['contactListId']}")).json()
    assert preview["rows"] == [["+4790000001"]]


async def test_an_import(kept: Rest) -> None:
    """The import is started once; a repeated request is no conflict."""
    made = (await kept.request("POST", f"{BASE}/upload", **form())).json()
    path = f"{BASE}/map-fields/{made['contactListId']}"
    await kept.post(path, mappings={"Phone": "phoneNumber"})
    path = f"{BASE}/process-file/{made['contactListId']}"
    assert (await twice(kept, "POST", path))["status"] == "PROCESSING"
    assert (await kept.rejected("POST", path))[:2] == (409, "processing")


async def test_an_email(database_url: str, scene: RpcScene) -> None:
    """The e-mail is sent once."""
    async with Mailbox() as mailbox:
        mail: dict[str, Any] = {"smtp_host": "127.0.0.1", "smtp_port": mailbox.port}
        async with run_rest(settings_for(database_url, scene.url, **mail), scene) as rest:
            account = await rest.services.accounts.get("acme")
            await rest.services.accounts.change(replace(account, email="crm@example.com"))
            await twice(rest, "GET", f"{BASE}/{await a_list(rest.services)}/export")
            assert await total(rest, "download-requests") == 1
