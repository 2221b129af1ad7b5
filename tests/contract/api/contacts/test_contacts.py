"""Contacts over HTTP: added, shown, changed, deleted; events for running campaigns."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.harness.api.cdrs.records import record as call_record
from tests.harness.api.cdrs.records import write_calls
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.rest import Rest

NINA = {"fName": "Nina", "lName": "Berg", "email": "nina@example.com"}


async def made(rest: Rest, list_id: str, number: str = "+4790000000", **more: Any) -> Any:
    """Add a contact and return it."""
    body = {"phoneNumber": number, "contactListId": list_id, **NINA, **more}
    answer = await rest.request("POST", f"{BASE}/contactNumber", body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def shown(rest: Rest, contact_id: str) -> Any:
    """Return a contact."""
    answer = await rest.request("GET", f"{BASE}/viewmore/{contact_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def total(rest: Rest, list_id: str) -> int:
    """Return the number of a list's contacts."""
    return int((await rest.request("GET", f"{BASE}/get-contact/{list_id}")).json()["total"])


async def test_a_contact_is_added_and_shown(kept: Rest) -> None:
    """Its number becomes E.164, and the list's count grows."""
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
    """Without a region it is of the country of the account's first number."""
    list_id = await a_list(kept.services)
    body = {"phoneNumber": "900 00 000", "contactListId": list_id}
    answer = await kept.request("POST", f"{BASE}/contactNumber", body)
    assert answer.json()["phoneNumber"] == "+4790000000", answer.text
    account = await kept.services.accounts.get("other")
    await kept.services.accounts.change(replace(account, region="NO"))
    others = await a_list(kept.services, "other")
    token = await kept.token_of("other", "other")
    answer = await kept.request(
        "POST", f"{BASE}/contactNumber", {**body, "contactListId": others}, token=token
    )
    assert answer.json()["phoneNumber"] == "+4790000000", answer.text


async def test_a_number_is_unique_in_a_list(kept: Rest) -> None:
    """Adding it again or changing another contact to it fails; another list may have it."""
    list_id, other = await a_list(kept.services), await a_list(kept.services, name="Autumn")
    await made(kept, list_id)
    second = await made(kept, list_id, "+4790000001")
    body = {"phoneNumber": "+4790000000", "contactListId": list_id}
    problem = (400, "duplicate", ["phoneNumber"])
    assert await kept.rejected("POST", f"{BASE}/contactNumber", body) == problem
    path = f"{BASE}/contactNumber/{second['contactId']}"
    assert await kept.rejected("PATCH", path, body) == problem
    assert await total(kept, list_id) == 2
    await made(kept, other)


async def test_omitted_fields_do_not_change(kept: Rest) -> None:
    """Omitted fields stay, and null clears a field."""
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


async def test_own_fields_are_merged(kept: Rest) -> None:
    """As an import merges them; null or an empty text removes one, null all of them."""
    list_id = await a_list(kept.services, assigned_fields=["city", "zip"])
    fields = {"city": "Oslo ", "zip": "0150"}
    contact = await made(kept, list_id, fields=fields)
    path = f"{BASE}/contactNumber/{contact['contactId']}"
    body = {"phoneNumber": "+4790000000", "contactListId": list_id}
    for given, stored in (
        ({"city": "Bergen"}, {"city": "Bergen", "zip": "0150"}),
        ({}, {"city": "Bergen", "zip": "0150"}),
        ({"zip": None}, {"city": "Bergen"}),
        ({"city": "", "zip": "5003"}, {"zip": "5003"}),
        ({"zip": " "}, {}),
        (fields, {"city": "Oslo", "zip": "0150"}),
        (None, {}),
    ):
        answer = await kept.request("PATCH", path, {**body, "fields": given})
        assert (answer.status_code, answer.json()["fields"]) == (200, stored), given


async def test_a_field_that_the_list_assigns_no_longer_is_kept_or_removed(kept: Rest) -> None:
    """It cannot be set."""
    list_id = await a_list(kept.services, assigned_fields=["city"])
    row = {"phone_number": "+4790000000", "fields": '{"city":"Oslo","zip":"0150"}'}
    (contact_id,) = await contacts_in(kept.services, list_id, row)
    path = f"{BASE}/contactNumber/{contact_id}"
    body = {"phoneNumber": "+4790000000", "contactListId": list_id}
    wrong = {**body, "fields": {"zip": "5003"}}
    assert (await kept.rejected("PATCH", path, wrong))[::2] == (400, ["fields.zip"])
    for given, stored in (
        ({"city": "Bergen"}, {"city": "Bergen", "zip": "0150"}),
        ({"zip": None}, {"city": "Bergen"}),
    ):
        answer = await kept.request("PATCH", path, {**body, "fields": given})
        assert (answer.status_code, answer.json()["fields"]) == (200, stored), given
    wrong = {**body, "fields": {"shoe": None}}
    assert (await kept.rejected("PATCH", path, wrong))[::2] == (400, ["fields.shoe"])


async def test_a_contact_is_moved_to_another_list(kept: Rest) -> None:
    """It keeps its tags and the fields that both lists assign; both counts change."""
    first = await a_list(kept.services, assigned_fields=["city", "plan"])
    second = await a_list(kept.services, name="Autumn", assigned_fields=["plan"])
    (contact_id,) = await contacts_in(kept.services, first, *some(1), tags=("vip",))
    path = f"{BASE}/contactNumber/{contact_id}"
    body = {"phoneNumber": "+4790000000", "contactListId": first}
    body_with = {**body, "fields": {"city": "Oslo", "plan": "gold"}}
    assert (await kept.request("PATCH", path, body_with)).status_code == 200
    moved = (await kept.request("PATCH", path, {**body, "contactListId": second})).json()
    assert (moved["contactListId"], moved["fields"]) == (second, {"plan": "gold"})
    back = (await kept.request("PATCH", path, {**body, "fields": {"city": "Bergen"}})).json()
    assert back["fields"] == {"city": "Bergen", "plan": "gold"}
    given = {**body, "contactListId": second, "fields": {"city": None}}
    again = await kept.request("PATCH", path, given)
    assert (again.status_code, again.json()["fields"]) == (200, {"plan": "gold"})
    assert [await total(kept, each) for each in (first, second)] == [0, 1]
    tagged = await kept.request("GET", f"{BASE}/get-contact/{second}", params={"tags": "vip"})
    assert [each["contactId"] for each in tagged.json()["data"]] == [contact_id]


async def test_a_contact_is_deleted(kept: Rest) -> None:
    """The request must have the id of the contact's list."""
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


async def test_a_call_status_is_set(kept: Rest) -> None:
    """The status has its own PATCH, which changes no other field."""
    contact = await made(kept, await a_list(kept.services))
    path = f"{BASE}/contact/{contact['contactId']}"
    answer = await kept.request("PATCH", path, {"callStatus": "answered"})
    assert (answer.status_code, answer.json()["callStatus"]) == (200, "answered")
    assert answer.json()["fName"] == "Nina"
    assert (await kept.rejected("PATCH", path, {}))[0] == 400


async def test_running_campaigns_get_events(kept: Rest) -> None:
    """Events are in order, and each one once for a reader that continues with `next`."""
    list_id = await a_list(kept.services)
    contact = await made(kept, list_id, addToRunningCampaign=True)
    await made(kept, list_id, "+4790000001")
    body = {"phoneNumber": "+4790000000", "contactListId": list_id}  # the wish stays as it was
    await kept.request("PATCH", f"{BASE}/contactNumber/{contact['contactId']}", body)
    page = (await kept.request("GET", f"{BASE}/contact-events")).json()
    assert [(each["event"], each["contactId"]) for each in page["data"]] == [
        ("contact-added", contact["contactId"]),
        ("contact-changed", contact["contactId"]),
    ]
    rest = await kept.request("GET", f"{BASE}/contact-events", params={"after": page["next"]})
    assert rest.json() == {"data": [], "next": page["next"]}


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [("after", (0, 2**53 - 1), (-1, 2**53)), ("limit", (1, 1_000), (0, 1_001))],
)
async def test_bounds_of_a_page_of_events(
    rest: Rest, name: str, valid: tuple[int, ...], invalid: tuple[int, ...]
) -> None:
    """A position is a number that JSON keeps exactly; a page has up to a thousand events."""
    path = f"{BASE}/contact-events"
    for value in valid:
        answer = await rest.request("GET", path, params={name: value})
        assert answer.status_code == 200, value
    for value in invalid:
        problem = await rest.rejected("GET", path, params={name: value})
        assert problem == (400, "invalid", [name]), value


async def test_crm_has_the_calls(kept: Rest) -> None:
    """Each contact has the number of its calls, and the last one."""
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
        ({"email": "nina@example.com\nx"}, "email"),
        ({"email": "mailto:nina"}, "email"),
        ({"fName": "x" * 129}, "fName"),
        ({"lName": "a\u0000b"}, "lName"),
        ({"addToRunningCampaign": "yes"}, "addToRunningCampaign"),
        ({"fields": {"shoe": "44"}}, "fields.shoe"),
        ({"fields": {"shoe": "a\x00b"}}, "fields.shoe"),
        ({"name": "Nina"}, "name"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, more: dict[str, Any], path: str) -> None:
    """Each error has its path."""
    body = {"phoneNumber": "+4790000000", "contactListId": await a_list(rest.services), **more}
    status, _, paths = await rest.rejected("POST", f"{BASE}/contactNumber", body)
    assert (status, paths) == (400, [path])


async def test_empty_texts_are_absent_or_clear(kept: Rest) -> None:
    """Of a new contact they are nothing; a change clears the field."""
    list_id = await a_list(kept.services)
    contact = await made(kept, list_id, email="", fName="", lName="Ek")
    assert (contact["email"], contact["fName"], contact["lName"]) == (None, None, "Ek")
    body = {"phoneNumber": "+4790000000", "contactListId": list_id}
    path = f"{BASE}/contactNumber/{contact['contactId']}"
    for email in ("ann@example.com", "", "mailto:ann@example.com ", " "):
        answer = await kept.request("PATCH", path, {**body, "email": email})
        stored = "ann@example.com" if "ann" in email else None
        assert (answer.status_code, answer.json()["email"]) == (200, stored), email
