"""Contacts over HTTP, one by one: made, shown, changed, deleted; told to running campaigns."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.contract.api.cdrs.records import record as call_record
from tests.contract.api.cdrs.records import write_calls
from tests.contract.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.contract.api.rest import Rest

NINA = {"fName": "Nina", "lName": "Berg", "email": "nina@example.com"}


async def made(rest: Rest, list_id: str, number: str = "+4790000000", **more: Any) -> Any:
    """Make a contact."""
    body = {"phoneNumber": number, "contactListId": list_id, **NINA, **more}
    answer = await rest.request("POST", f"{BASE}/contactNumber", body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def shown(rest: Rest, contact_id: str) -> Any:
    """Show a contact."""
    answer = await rest.request("GET", f"{BASE}/viewmore/{contact_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def total(rest: Rest, list_id: str) -> int:
    """Count a list's contacts."""
    return int((await rest.request("GET", f"{BASE}/get-contact/{list_id}")).json()["total"])


async def test_a_contact_is_made_and_shown(kept: Rest) -> None:
    """Its number is E.164's, whatever was between the digits; its list counts it."""
    list_id = await a_list(kept.services)
    contact = await made(kept, list_id, "+47 900 00 000")
    assert contact["phoneNumber"] == "+4790000000"
    assert (contact["fName"], contact["lName"], contact["email"]) == tuple(NINA.values())
    whole = await shown(kept, contact["contactId"])
    assert whole.pop("contactListName") == "Spring"
    assert whole.pop("crm") == {"calls": 0, "callsAreExact": True, "lastCall": None}
    assert whole == contact
    assert await total(kept, list_id) == 1


async def test_a_number_without_country_is_of_the_accounts_region(kept: Rest) -> None:
    """With a region it is read, without one it is refused, and the field is named."""
    list_id = await a_list(kept.services)
    body = {"phoneNumber": "900 00 000", "contactListId": list_id}
    faults = await kept.rejected("POST", f"{BASE}/contactNumber", body)
    assert faults == (400, "invalid", ["phoneNumber"])
    account = await kept.services.accounts.get("other")
    await kept.services.accounts.change(replace(account, region="NO"))
    others = await a_list(kept.services, "other")
    token = await kept.token_of("other", "other")
    answer = await kept.request(
        "POST", f"{BASE}/contactNumber", {**body, "contactListId": others}, token=token
    )
    assert answer.json()["phoneNumber"] == "+4790000000", answer.text


async def test_a_number_is_once_in_a_list(kept: Rest) -> None:
    """A second contact with it is refused, made or changed; in another list it may be."""
    list_id, other = await a_list(kept.services), await a_list(kept.services, name="Autumn")
    await made(kept, list_id)
    second = await made(kept, list_id, "+4790000001")
    body = {"phoneNumber": "+4790000000", "contactListId": list_id}
    refused = (400, "duplicate", ["phoneNumber"])
    assert await kept.rejected("POST", f"{BASE}/contactNumber", body) == refused
    path = f"{BASE}/contactNumber/{second['contactId']}"
    assert await kept.rejected("PATCH", path, body) == refused
    assert await total(kept, list_id) == 2
    await made(kept, other)


async def test_a_change_leaves_what_is_not_named(kept: Rest) -> None:
    """Null takes a field out; the rest stays."""
    list_id = await a_list(kept.services)
    contact = await made(kept, list_id)
    path = f"{BASE}/contactNumber/{contact['contactId']}"
    body = {"phoneNumber": "+4790000009", "contactListId": list_id, "lName": None}
    answer = await kept.request("PATCH", path, body)
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert (changed["fName"], changed["lName"]) == ("Nina", None)
    assert changed["phoneNumber"] == "+4790000009"
    found = await kept.request("GET", f"{BASE}/all-contacts", params={"lName": "berg"})
    assert found.json()["data"] == []


async def test_a_contact_is_put_into_another_list(kept: Rest) -> None:
    """With its tags, and those of its fields that this one assigns, too; both lists count anew."""
    first = await a_list(kept.services, assigned_fields=["city", "plan"])
    second = await a_list(kept.services, name="Autumn", assigned_fields=["plan"])
    (contact_id,) = await contacts_in(kept.services, first, *some(1), tags=("vip",))
    path = f"{BASE}/contactNumber/{contact_id}"
    body = {"phoneNumber": "+4790000000", "contactListId": first}
    body_with = {**body, "fields": {"city": "Oslo", "plan": "gold"}}
    assert (await kept.request("PATCH", path, body_with)).status_code == 200
    moved = (await kept.request("PATCH", path, {**body, "contactListId": second})).json()
    assert (moved["contactListId"], moved["fields"]) == (second, {"plan": "gold"})
    assert [await total(kept, each) for each in (first, second)] == [0, 1]
    tagged = await kept.request("GET", f"{BASE}/get-contact/{second}", params={"tags": "vip"})
    assert [each["contactId"] for each in tagged.json()["data"]] == [contact_id]


async def test_a_deleted_contact_is_gone(kept: Rest) -> None:
    """Only with the id of the list that it is in; then there is nothing of it."""
    list_id = await a_list(kept.services)
    contact = await made(kept, list_id, addToRunningCampaign=True)
    path = f"{BASE}/contactNumber/{contact['contactId']}"
    assert (await kept.rejected("DELETE", path))[::2] == (400, ["contactPoolId"])
    wrong = {"contactPoolId": "999"}
    assert (await kept.rejected("DELETE", path, params=wrong))[0] == 404
    answer = await kept.request("DELETE", path, params={"contactPoolId": list_id})
    assert (answer.status_code, answer.json()["contactId"]) == (200, contact["contactId"])
    assert (await kept.rejected("GET", f"{BASE}/viewmore/{contact['contactId']}"))[0] == 404
    assert (await kept.rejected("DELETE", path, params={"contactPoolId": list_id}))[0] == 404
    assert await total(kept, list_id) == 0
    assert (await kept.request("GET", f"{BASE}/contact-events")).json() == {"data": [], "next": "0"}


async def test_a_call_status_is_noted(kept: Rest) -> None:
    """By the PATCH of its own; all else stays."""
    contact = await made(kept, await a_list(kept.services))
    path = f"{BASE}/contact/{contact['contactId']}"
    answer = await kept.request("PATCH", path, {"callStatus": "answered"})
    assert (answer.status_code, answer.json()["callStatus"]) == (200, "answered")
    assert answer.json()["fName"] == "Nina"
    assert (await kept.rejected("PATCH", path, {}))[0] == 400


async def test_running_campaigns_are_told(kept: Rest) -> None:
    """Each contact that is for them, in order, once to who reads on."""
    list_id = await a_list(kept.services)
    contact = await made(kept, list_id, addToRunningCampaign=True)
    await made(kept, list_id, "+4790000001")
    body = {"phoneNumber": "+4790000000", "contactListId": list_id, "addToRunningCampaign": True}
    await kept.request("PATCH", f"{BASE}/contactNumber/{contact['contactId']}", body)
    page = (await kept.request("GET", f"{BASE}/contact-events")).json()
    assert [(each["event"], each["contactId"]) for each in page["data"]] == [
        ("contact-added", contact["contactId"]),
        ("contact-changed", contact["contactId"]),
    ]
    rest = await kept.request("GET", f"{BASE}/contact-events", params={"after": page["next"]})
    assert rest.json() == {"data": [], "next": page["next"]}


async def test_crm_tells_of_calls(kept: Rest) -> None:
    """The contacts of a list with how often they were called, and the last time."""
    list_id = await a_list(kept.services)
    await made(kept, list_id, "+4722222222")
    await made(kept, list_id, "+4790000000")
    await write_calls(kept.services.database, call_record(1), call_record(2, after_ms=5))
    path = f"{BASE}/viewContacts/{list_id}"
    for yes in ("1", "true", "yes"):
        page = (await kept.request("GET", path, params={"crm": yes})).json()
        called, never = (each["crm"] for each in page["data"])
        assert (called["calls"], called["callsAreExact"]) == (2, True)
        assert called["lastCall"]["reqId"] == call_record(2).call_id
        assert never == {"calls": 0, "callsAreExact": True, "lastCall": None}
    page = (await kept.request("GET", path)).json()
    assert all("crm" not in each for each in page["data"])


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"phoneNumber": "twelve"}, "phoneNumber"),
        ({"phoneNumber": "+47"}, "phoneNumber"),
        ({"contactListId": "999"}, "contactListId"),
        ({"contactListId": "x"}, "contactListId"),
        ({"contactListId": 7}, "contactListId"),
        ({"email": "nina"}, "email"),
        ({"email": "nina@example.com\n"}, "email"),
        ({"fName": "x" * 129}, "fName"),
        ({"lName": "a\u0000b"}, "lName"),
        ({"addToRunningCampaign": "yes"}, "addToRunningCampaign"),
        ({"fields": {"shoe": "44"}}, "fields.shoe"),
        ({"fields": {"shoe": "a\x00b"}}, "fields[...]"),
        ({"name": "Nina"}, "name"),
    ],
)
async def test_what_is_wrong_is_named(rest: Rest, more: dict[str, Any], path: str) -> None:
    """Each fault by its path."""
    body = {"phoneNumber": "+4790000000", "contactListId": await a_list(rest.services), **more}
    status, _, paths = await rest.rejected("POST", f"{BASE}/contactNumber", body)
    assert (status, paths) == (400, [path])
