"""`/srmain/msgapp-numbers` over HTTP, on both databases, with an engine's flows."""

from typing import Any

import pytest

from tests.harness.api.rest import Rest

BASE = "/srmain/msgapp-numbers"
NEW = {
    "businessName": "Example Shop",
    "phoneNumberId": "106540352242922",
    "businessMsgappNumber": "+47 21 93 00 00",
}
SAY = {"type": "say", "data": {"text": "Hello."}}
MESSAGES = {"kind": "message", "start": "a", "nodes": {"a": SAY}}


async def created(rest: Rest, **more: Any) -> Any:
    """Add a number; return it."""
    answer = await rest.request("POST", BASE, {**NEW, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_number_is_created(kept: Rest) -> None:
    """The response has the number in E.164, and defaults of omitted fields."""
    made = await created(kept)
    assert made == {
        "id": made["id"],
        **NEW,
        "businessMsgappNumber": "+4721930000",
        "flowbuilderId": None,
        "verified": False,
        "isActive": True,
        "via": None,
        "source": None,
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }
    page = (await kept.request("GET", BASE)).json()
    assert page == {"data": [made], "total": 1, "limit": 100, "offset": 0}


async def test_pages(kept: Rest) -> None:
    """Numbers are newest first, with the total; invalid pages are rejected."""
    ids = [(await created(kept, phoneNumberId=str(n)))["id"] for n in range(3)]
    listed = (await kept.request("GET", BASE)).json()["data"]
    assert {each["id"] for each in listed} == set(ids)
    times = [each["createdAt"] for each in listed]
    assert times == sorted(times, reverse=True)
    page = (await kept.request("GET", f"{BASE}?limit=2&offset=1")).json()
    assert (page["data"], page["total"], page["offset"]) == (listed[1:], 3, 1)
    assert (await kept.request("GET", f"{BASE}?offset=9007199254740991")).json()["data"] == []
    for query, name in (
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=x", "limit"),
        ("limit=1001", "limit"),
        ("offset=-1", "offset"),
        ("offset=1e400", "offset"),
    ):
        assert await kept.rejected("GET", f"{BASE}?{query}") == (400, "invalid", [name])


async def test_source_is_the_old_name_of_via(kept: Rest) -> None:
    """One or both are accepted if they agree; the response has both."""
    requested: tuple[tuple[dict[str, Any], str], ...] = (
        ({"via": "add"}, "add"),
        ({"source": "register"}, "register"),
        ({"via": "add", "source": "add"}, "add"),
        ({"via": "add", "source": None}, "add"),
    )
    for number, (given, via) in enumerate(requested):
        made = await created(kept, phoneNumberId=str(number), **given)
        assert (made["via"], made["source"]) == (via, via)
    both = {**NEW, "via": "add", "source": "register"}
    assert await kept.rejected("POST", BASE, both) == (400, "invalid", ["source"])
    path = f"{BASE}/{made['id']}"
    changed = (await kept.request("PATCH", path, {"source": "register"})).json()
    assert (changed["via"], changed["source"]) == ("register", "register")
    assert (await kept.request("PATCH", path, {"via": None})).json()["via"] is None


async def test_a_number_is_changed(kept: Rest) -> None:
    """Given fields change, null clears a field, and the others stay."""
    await kept.scene.documents.flow("acme", "hello", MESSAGES)
    made = await created(kept, flowbuilderId="hello", verified=True)
    path = f"{BASE}/{made['id']}"
    change = {"businessName": "Another", "isActive": False, "businessMsgappNumber": "4722222222"}
    changed = (await kept.request("PATCH", path, change)).json()
    want = {**made, **change, "businessMsgappNumber": "+4722222222"}
    assert changed == {**want, "updatedAt": changed["updatedAt"]}
    changed = (await kept.request("PATCH", path, {"flowbuilderId": None})).json()
    assert (changed["flowbuilderId"], changed["verified"]) == (None, True)
    assert (await kept.request("GET", BASE)).json()["data"] == [changed]


async def test_a_platform_id_is_unique_in_an_account(kept: Rest) -> None:
    """A duplicate is rejected on create and change; another account may have it."""
    await created(kept)
    other = await created(kept, phoneNumberId="2")
    assert await kept.rejected("POST", BASE, NEW) == (400, "taken", ["phoneNumberId"])
    change = {"phoneNumberId": NEW["phoneNumberId"]}
    refused = await kept.rejected("PATCH", f"{BASE}/{other['id']}", change)
    assert refused == (400, "taken", ["phoneNumberId"])
    theirs = await kept.token_of("other", "other")
    assert (await kept.request("POST", BASE, NEW, token=theirs)).status_code == 201


async def test_only_flows_for_messages(kept: Rest) -> None:
    """Call flows, action trees and unknown flows are rejected with the field's name."""
    await kept.scene.documents.flow("acme", "voice", {**MESSAGES, "kind": "voice"})
    await kept.scene.documents.flow("acme", "tree", SAY)
    await kept.scene.documents.flow("acme", "address", "https://example.com/next")
    await kept.scene.documents.flow("other", "theirs", MESSAGES)
    await kept.scene.documents.flow("acme", "ours", MESSAGES)
    assert (await created(kept, flowbuilderId="ours"))["flowbuilderId"] == "ours"
    for flow, code in (
        ("voice", "not_a_message_flow"),
        ("tree", "not_a_message_flow"),
        ("address", "not_a_message_flow"),
        ("theirs", "unknown_flow"),
        ("nobodys", "unknown_flow"),
        ("../ours", "invalid"),
    ):
        requested = {**NEW, "phoneNumberId": "2", "flowbuilderId": flow}
        assert await kept.rejected("POST", BASE, requested) == (400, code, ["flowbuilderId"])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"businessName": "x" * 257}, "businessName"),
        ({"businessName": "a\x00b"}, "businessName"),
        ({"businessName": 7}, "businessName"),
        ({"phoneNumberId": "1/2"}, "phoneNumberId"),
        ({"phoneNumberId": 7}, "phoneNumberId"),
        ({"businessMsgappNumber": "call me"}, "businessMsgappNumber"),
        ({"verified": "yes"}, "verified"),
        ({"via": "import"}, "via"),
        ({"source": "import"}, "source"),
        ({"id": "x"}, "id"),
    ],
)
async def test_bad_input_names_its_field(rest: Rest, change: dict[str, Any], path: str) -> None:
    """Create and change reject it, and nothing is stored."""
    made = await created(rest, phoneNumberId="first")
    status, _code, paths = await rest.rejected("POST", BASE, {**NEW, **change})
    assert (status, paths) == (400, [path])
    status, _code, paths = await rest.rejected("PATCH", f"{BASE}/{made['id']}", change)
    assert (status, paths) == (400, [path])
    assert (await rest.request("GET", BASE)).json()["data"] == [made]


async def test_what_is_required(rest: Rest) -> None:
    """A new number needs three fields; a change may be empty."""
    for name in NEW:
        requested = {key: value for key, value in NEW.items() if key != name}
        assert await rest.rejected("POST", BASE, requested) == (400, "invalid", [name])
    path = f"{BASE}/{(await created(rest))['id']}"
    assert (await rest.request("PATCH", path, b"{}")).status_code == 200
    assert (await rest.rejected("PATCH", path, b"[]"))[:2] == (400, "invalid")


async def test_each_account_sees_its_own(kept: Rest) -> None:
    """Numbers of other accounts and deleted numbers get 404."""
    made = await created(kept)
    theirs = await kept.token_of("other", "other")
    path = f"{BASE}/{made['id']}"
    assert (await kept.request("GET", BASE, token=theirs)).json()["total"] == 0
    change = {"verified": True}
    assert (await kept.rejected("PATCH", path, change, token=theirs))[0] == 404
    assert (await kept.rejected("DELETE", path, token=theirs))[0] == 404
    assert (await kept.request("DELETE", path)).json() == {"id": made["id"], "deleted": True}
    for odd in (made["id"], "x", "%00", "a" * 3_000):
        assert (await kept.rejected("DELETE", f"{BASE}/{odd}"))[0] == 404
        assert (await kept.rejected("PATCH", f"{BASE}/{odd}", change))[0] == 404
    for method, requested in (("POST", BASE), ("GET", BASE), ("PATCH", path), ("DELETE", path)):
        assert (await kept.rejected(method, requested, token=""))[:2] == (401, "unauthenticated")


async def test_a_repeated_request_creates_one_number(kept: Rest) -> None:
    """With an idempotency key the response is the same, and there is one number."""
    headers = {"Idempotency-Key": "k-1"}
    first = await kept.request("POST", BASE, NEW, headers=headers)
    again = await kept.request("POST", BASE, NEW, headers=headers)
    assert (first.status_code, again.json()) == (201, first.json())
    assert (await kept.request("GET", BASE)).json()["total"] == 1
