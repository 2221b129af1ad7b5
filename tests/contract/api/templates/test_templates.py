"""`/srmain/msgapp_templates` over HTTP: created, shown and listed."""

import json
from typing import Any

import pytest

from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.templates.messaging import BASE, HELLO, LISTED, Messaging
from tests.harness.customers.msgapp_names import phone_id

CHANGED = "Hello {{1}}, {{2}} has come."


async def test_a_template_is_created(msgapp: Messaging) -> None:
    """The platform has the requested fields; the template has the platform's id and status."""
    made = await msgapp.create()
    (there,) = msgapp.there.all.values()
    assert (there["name"], there["language"]) == ("hello", "en_US")
    assert (there["components"], there["parameter_format"]) == (HELLO["components"], "POSITIONAL")
    assert made == {
        **{name: HELLO[name] for name in HELLO},
        "id": made["id"],
        "sub_category": None,
        "parameter_format": "POSITIONAL",
        "platformTemplateId": there["id"],
        "is_primary_device_delivery_only": False,
        "headerText": None,
        "bodyText": HELLO["components"][0]["text"],
        "footerText": None,
        "status": "PENDING",
        "statusReason": None,
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }
    assert await msgapp.get(made["id"]) == made


async def test_all_fields_reach_the_platform(msgapp: Messaging) -> None:
    """Components may be strings of JSON, and placeholders may have names."""
    text = "{{first}} {{second}}"
    named = [{"param_name": name, "example": name} for name in ("first", "second")]
    body = {"type": "body", "text": text, "example": {"body_text_named_params": named}}
    buttons = {"type": "BUTTONS", "buttons": [{"type": "quick_reply", "text": "Stop"}]}
    made = await msgapp.create(
        parameter_format="NAMED",
        category="MARKETING",
        sub_category="ORDER_STATUS",
        is_primary_device_delivery_only=True,
        components=[json.dumps(buttons), json.dumps(body)],
        headerText="News",
        footerText="Bye",
    )
    (request,) = msgapp.platform.requests_to("POST", "/message_templates")
    request_body = request.body
    assert request_body == {
        "name": "hello",
        "language": "en_US",
        "category": "MARKETING",
        "sub_category": "ORDER_STATUS",
        "parameter_format": "NAMED",
        "is_primary_device_delivery_only": True,
        "components": [
            {"type": "HEADER", "format": "TEXT", "text": "News"},
            {**body, "type": "BODY"},
            {"type": "FOOTER", "text": "Bye"},
            {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY", "text": "Stop"}]},
        ],
    }
    texts = (made["headerText"], made["bodyText"], made["footerText"])
    assert (made["components"], texts) == (request_body["components"], ("News", text, "Bye"))


async def test_a_text_alone_is_enough(msgapp: Messaging) -> None:
    """The platform requires examples, so each placeholder's name is its example."""
    made = await msgapp.create(components=[], bodyText="Hi {{1}}, {{2}}!")
    example = {"body_text": [["1", "2"]]}
    assert made["components"] == [{"type": "BODY", "text": "Hi {{1}}, {{2}}!", "example": example}]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": "Hello"}, "name"),
        ({"name": "x" * 513}, "name"),
        ({"language": "english"}, "language"),
        ({"category": "OTHER"}, "category"),
        ({"phoneNumberId": "unknown"}, "phoneNumberId"),
        ({"phoneNumberId": "phone-other"}, "phoneNumberId"),
        ({"parameter_format": "BOTH"}, "parameter_format"),
        ({"components": ["BODY"]}, "components[0]"),
        ({"components": [7]}, "components[0]"),
        ({"components": [{"type": "BODY", "text": "x", "colour": "red"}]}, "components[0].colour"),
        ({"components": [{"type": "SONG"}]}, "components[0].type"),
        ({"components": []}, "components"),
        ({"bodyText": "again"}, "bodyText"),
        ({"components": [], "bodyText": "{{1}} {{3}}"}, "bodyText"),
        ({"headerText": "x" * 61}, "headerText"),
        ({"headerText": "a\nb"}, "headerText"),
        ({"footerText": "{{1}}"}, "footerText"),
        ({"footerText": "a\x00b"}, "footerText"),
        ({"status": "APPROVED"}, "status"),
        ({"platformTemplateId": "no/id"}, "platformTemplateId"),
    ],
)
async def test_bad_input_names_its_field(
    msgapp: Messaging, change: dict[str, Any], path: str
) -> None:
    """The error names the field; nothing is sent or stored."""
    status, _code, paths = await msgapp.rejected(body={**HELLO, **change})
    assert (status, paths) == (400, [path])
    assert msgapp.platform.requests == []
    assert (await msgapp.rest.request("GET", LISTED)).json()["total"] == 0


async def test_what_is_required(msgapp: Messaging) -> None:
    """Four fields and an active number are required."""
    for name in ("name", "language", "category", "phoneNumberId"):
        request_body = {key: value for key, value in HELLO.items() if key != name}
        assert await msgapp.rejected(body=request_body) == (400, "invalid", [name])
    numbers = (await msgapp.rest.request("GET", "/srmain/msgapp-numbers")).json()["data"]
    path = f"/srmain/msgapp-numbers/{numbers[0]['id']}"
    await msgapp.rest.request("PATCH", path, {"isActive": False})
    assert await msgapp.rejected() == (400, "inactive", ["phoneNumberId"])
    assert msgapp.platform.requests == []


async def test_lists(msgapp: Messaging, clock: ManualClock) -> None:
    """Part of the name, category, status and number filter them; an empty filter matches any."""
    for name, category in (("a_one", "UTILITY"), ("b_one", "MARKETING"), ("axone", "UTILITY")):
        clock.now += 1
        await msgapp.create(name=name, category=category)

    async def names(**wanted: str) -> list[str]:
        query = {"name": "", "category": "", "status": "", **wanted}
        answer = await msgapp.rest.request("GET", BASE, params=query)
        assert answer.status_code == 200, answer.text
        return [each["name"] for each in answer.json()["data"]]

    assert await names() == ["axone", "b_one", "a_one"]
    assert await names(name="_One") == ["b_one", "a_one"]
    assert await names(category="MARKETING") == ["b_one"]
    assert await names(status="PENDING", name="a_") == ["a_one"]
    assert await names(status="APPROVED") == []
    assert await names(phoneNumberId=phone_id("acme"), limit="1", offset="1") == ["b_one"]
    assert await names(phoneNumberId="another") == []
    page = (await msgapp.rest.request("GET", f"{LISTED}&limit=2")).json()
    assert (len(page["data"]), page["total"], page["limit"], page["offset"]) == (2, 3, 2, 0)
    for query, path in (
        ("category=&status=", "name"),
        ("name=&status=", "category"),
        ("name=&category=", "status"),
        ("name=%25&category=&status=", "name"),
        ("name=&category=&status=%00", "status"),
        ("name=&category=&status=&limit=0", "limit"),
        ("name=&category=&status=&offset=-1", "offset"),
        ("name=&category=&status=&order=up", "order"),
    ):
        assert await msgapp.rejected("GET", f"{BASE}?{query}") == (400, "invalid", [path])


async def test_a_name_is_unique_in_a_language(msgapp: Messaging) -> None:
    """A duplicate sends no request; another language may have the same name."""
    await msgapp.create()
    assert await msgapp.rejected() == (400, "taken", ["name"])
    assert len(msgapp.platform.requests_to("POST", "/message_templates")) == 1
    await msgapp.create(language="nb")


async def test_each_account_sees_its_own(msgapp: Messaging) -> None:
    """Templates of other accounts get 404; each account uses its own business account."""
    made = await msgapp.create()
    theirs = await msgapp.rest.token_of("other", "other")
    path = f"{BASE}/{made['id']}"
    listed = await msgapp.rest.request("GET", LISTED, token=theirs)
    assert listed.json()["total"] == 0
    for method, body in (("GET", None), ("PATCH", {"footerText": "x"}), ("DELETE", None)):
        assert (await msgapp.rejected(method, path, body, token=theirs))[0] == 404
    own = {**HELLO, "phoneNumberId": phone_id("other")}
    assert (await msgapp.rest.request("POST", BASE, own, token=theirs)).status_code == 201
    assert len(msgapp.platform.business("other").all) == len(msgapp.there.all) == 1
    for odd in ("x", "%00", "a" * 3_000):
        assert (await msgapp.rejected("GET", f"{BASE}/{odd}"))[0] == 404
    for method, request_body in (
        ("POST", BASE),
        ("GET", LISTED),
        ("GET", path),
        ("PATCH", path),
        ("DELETE", path),
        ("POST", f"{BASE}/sync-status"),
        ("POST", f"{BASE}/test-send"),
        ("POST", f"{BASE}/upload-header-media"),
    ):
        assert (await msgapp.rejected(method, request_body, token=""))[:2] == (
            401,
            "unauthenticated",
        )
