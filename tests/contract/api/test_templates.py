"""`/srmain/msgapp_templates` over HTTP: made, shown, changed and taken away, here and there."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.contract.api.hand import Hand
from tests.contract.api.messaging import BASE, HELLO, LISTED, Messaging, messaging
from tests.contract.rpc_bench import Bench
from tests.harness.msgapp_faults import done_but, fails
from tests.harness.msgapp_names import phone_id

CHANGED = "Hello {{1}}, {{2}} has come."


@pytest.fixture
def clock() -> Hand:
    """Give a clock that a test moves."""
    return Hand()


@pytest.fixture
async def house(database_url: str, bench: Bench, clock: Hand) -> AsyncIterator[Messaging]:
    """Give the layer over either kind of database."""
    async with messaging(database_url, bench, clock) as made:
        yield made


async def test_a_template_is_made(house: Messaging) -> None:
    """There with what was asked for, here with the platform's id and status, word for word."""
    made = await house.create()
    (there,) = house.there.all.values()
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
    assert await house.get(made["id"]) == made


async def test_all_fields_reach_the_platform(house: Messaging) -> None:
    """Named placeholders, sub-category, delivery; a component as a text that holds its JSON."""
    text = "{{first}} {{second}}"
    named = [{"param_name": name, "example": name} for name in ("first", "second")]
    body = {"type": "body", "text": text, "example": {"body_text_named_params": named}}
    buttons = {"type": "BUTTONS", "buttons": [{"type": "quick_reply", "text": "Stop"}]}
    made = await house.create(
        parameter_format="NAMED",
        category="MARKETING",
        sub_category="ORDER_STATUS",
        is_primary_device_delivery_only=True,
        components=[json.dumps(buttons), json.dumps(body)],
        headerText="News",
        footerText="Bye",
    )
    (asked,) = [each.body for each in house.platform.of("POST", "/message_templates")]
    assert asked == {
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
    assert (made["components"], texts) == (asked["components"], ("News", text, "Bye"))


async def test_a_text_alone_is_enough(house: Messaging) -> None:
    """The platform wants examples of placeholders: they are their own."""
    made = await house.create(components=[], bodyText="Hi {{1}}, {{2}}!")
    example = {"body_text": [["1", "2"]]}
    assert made["components"] == [{"type": "BODY", "text": "Hi {{1}}, {{2}}!", "example": example}]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": "Hello"}, "name"),
        ({"name": "x" * 513}, "name"),
        ({"language": "english"}, "language"),
        ({"language": "en-US"}, "language"),
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
    house: Messaging, change: dict[str, Any], path: str
) -> None:
    """Before anything is sent, and nothing is kept."""
    status, _code, paths = await house.refused(body={**HELLO, **change})
    assert (status, paths) == (400, [path])
    assert house.platform.seen == []
    assert (await house.rest.ask("GET", LISTED)).json()["total"] == 0


async def test_what_is_required(house: Messaging) -> None:
    """Four fields, and a number that is active."""
    for name in ("name", "language", "category", "phoneNumberId"):
        asked = {key: value for key, value in HELLO.items() if key != name}
        assert await house.refused(body=asked) == (400, "invalid", [name])
    numbers = (await house.rest.ask("GET", "/srmain/msgapp-numbers")).json()["data"]
    path = f"/srmain/msgapp-numbers/{numbers[0]['id']}"
    await house.rest.ask("PATCH", path, {"isActive": False})
    assert await house.refused() == (400, "inactive", ["phoneNumberId"])
    assert house.platform.seen == []


async def test_lists(house: Messaging, clock: Hand) -> None:
    """By part of the name, category, status, number; an empty filter must be there, and is any."""
    for name, category in (("a_one", "UTILITY"), ("b_one", "MARKETING"), ("axone", "UTILITY")):
        clock.now += 1
        await house.create(name=name, category=category)

    async def names(**wanted: str) -> list[str]:
        query = {"name": "", "category": "", "status": "", **wanted}
        answer = await house.rest.ask("GET", BASE, params=query)
        assert answer.status_code == 200, answer.text
        return [each["name"] for each in answer.json()["data"]]

    assert await names() == ["axone", "b_one", "a_one"]
    assert await names(name="_one") == ["b_one", "a_one"]
    assert await names(category="MARKETING") == ["b_one"]
    assert await names(status="PENDING", name="a_") == ["a_one"]
    assert await names(status="APPROVED") == []
    assert await names(phoneNumberId=phone_id("acme"), limit="1", offset="1") == ["b_one"]
    assert await names(phoneNumberId="another") == []
    page = (await house.rest.ask("GET", f"{LISTED}&limit=2")).json()
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
        assert await house.refused("GET", f"{BASE}?{query}") == (400, "invalid", [path])


async def test_a_name_is_had_once_in_a_language(house: Messaging) -> None:
    """The platform is not even asked; in another language it may be had."""
    await house.create()
    assert await house.refused() == (400, "taken", ["name"])
    assert len(house.platform.of("POST", "/message_templates")) == 1
    await house.create(language="nb")


async def test_a_template_is_changed(house: Messaging) -> None:
    """There and here; what is not named stays, and the status is the platform's again."""
    made = await house.create(footerText="Bye")
    house.there.all[made["platformTemplateId"]]["status"] = "APPROVED"
    path = f"{BASE}/{made['id']}"
    change = {"bodyText": CHANGED, "name": "hello", "language": "en_US"}
    changed = (await house.rest.ask("PATCH", path, change)).json()
    texts = (changed["bodyText"], changed["footerText"], changed["status"])
    assert texts == (CHANGED, "Bye", "PENDING")
    there = house.there.all[made["platformTemplateId"]]
    assert (
        there["components"] == changed["components"] == (await house.get(made["id"]))["components"]
    )
    (asked,) = house.platform.of("POST", f"/{made['platformTemplateId']}")
    assert asked.body.keys() == {"components"}
    changed = (await house.rest.ask("PATCH", path, {"footerText": None})).json()
    assert changed["footerText"] is None
    change = {"category": "MARKETING", "components": HELLO["components"], "headerText": "Hi"}
    changed = (await house.rest.ask("PATCH", path, change)).json()
    assert (changed["category"], changed["headerText"]) == ("MARKETING", "Hi")
    assert changed["components"][1:] == HELLO["components"]


async def test_changes_that_the_platform_need_not_know(house: Messaging) -> None:
    """Nothing new, or another number of the account: it is not asked."""
    made = await house.create()
    path = f"{BASE}/{made['id']}"
    number = {"businessName": "x", "phoneNumberId": "2", "businessMsgappNumber": "+4721930001"}
    await house.rest.post("/srmain/msgapp-numbers", **number)
    before = len(house.platform.seen)
    change = {"phoneNumberId": "2", "category": "UTILITY", "components": HELLO["components"]}
    changed = (await house.rest.ask("PATCH", path, change)).json()
    assert changed["phoneNumberId"] == "2"
    assert len(house.platform.seen) == before
    for bad, name in (
        ({"name": "other"}, "name"),
        ({"language": "nb"}, "language"),
        ({"phoneNumberId": "phone-other"}, "phoneNumberId"),
        ({"bodyText": None}, "bodyText"),
        ({"bodyText": "{{2}}"}, "bodyText"),
        ({"parameter_format": "NAMED"}, "components[0].text"),
        ({"status": "APPROVED"}, "status"),
    ):
        refused = await house.refused("PATCH", path, bad)
        assert (refused[0], refused[2]) == (400, [name])
    assert len(house.platform.seen) == before


async def test_a_template_is_taken_away(house: Messaging) -> None:
    """There in its language only; one that is gone there already goes here, too."""
    first, second = await house.create(), await house.create(language="nb")
    path = f"{BASE}/{first['id']}"
    assert (await house.rest.ask("DELETE", path)).json() == {"id": first["id"], "deleted": True}
    assert list(house.there.all) == [second["platformTemplateId"]]
    assert (await house.refused("GET", path))[0] == 404
    house.there.all.clear()
    assert (await house.rest.ask("DELETE", f"{BASE}/{second['id']}")).status_code == 200
    assert (await house.rest.ask("GET", LISTED)).json()["total"] == 0


async def test_each_account_sees_its_own(house: Messaging) -> None:
    """Another's template is 404, and its business account is asked with its token alone."""
    made = await house.create()
    theirs = await house.rest.token_of("other", "other")
    path = f"{BASE}/{made['id']}"
    listed = await house.rest.ask("GET", LISTED, token=theirs)
    assert listed.json()["total"] == 0
    for method, body in (("GET", None), ("PATCH", {"footerText": "x"}), ("DELETE", None)):
        assert (await house.refused(method, path, body, token=theirs))[0] == 404
    own = {**HELLO, "phoneNumberId": phone_id("other")}
    assert (await house.rest.ask("POST", BASE, own, token=theirs)).status_code == 201
    assert len(house.platform.business("other").all) == len(house.there.all) == 1
    for odd in ("x", "%00", "a" * 3_000):
        assert (await house.refused("GET", f"{BASE}/{odd}"))[0] == 404
    for method, asked in (
        ("POST", BASE),
        ("GET", LISTED),
        ("GET", path),
        ("PATCH", path),
        ("DELETE", path),
        ("POST", f"{BASE}/sync-status"),
        ("POST", f"{BASE}/test-send"),
        ("POST", f"{BASE}/upload-header-media"),
    ):
        assert (await house.refused(method, asked, token=""))[:2] == (401, "unauthenticated")


async def test_one_that_is_there_already_is_known(house: Messaging) -> None:
    """With its platform id it is not made anew: its content is what it is there."""
    house.there.put("77", name="hello", components=[{"type": "BODY", "text": "There."}])
    made = await house.create(platformTemplateId="77", components=[])
    shown = (made["platformTemplateId"], made["status"], made["statusReason"], made["bodyText"])
    assert shown == ("77", "APPROVED", "NONE", "There.")
    for change in ({"name": "no_such"}, {"language": "nb"}, {"platformTemplateId": "78"}):
        asked = {**HELLO, "platformTemplateId": "77", **change}
        refused = await house.refused(body=asked)
        assert refused == (400, "unknown_template", ["platformTemplateId"])
    assert house.platform.of("POST", "/message_templates") == []


async def test_what_the_platform_refuses_is_not_kept(house: Messaging) -> None:
    """Its own words and numbers are passed on, and the name is free again."""
    text = "This text is not fit to be sent."
    house.platform.next_answers(fails(400, 100, error_subcode=2388299, error_user_msg=text))
    answer = await house.rest.ask("POST", BASE, HELLO)
    assert (answer.status_code, answer.json()["code"]) == (400, "platform_100")
    assert answer.json()["detail"] == (
        f"{text} (the messaging platform's code 100, subcode 2388299, trace AbCdEf123)"
    )
    assert (await house.rest.ask("GET", LISTED)).json()["total"] == 0
    await house.create()


async def test_an_answer_that_is_lost_loses_nothing(house: Messaging, clock: Hand) -> None:
    """Made there, told as a 500: it is kept without a status, and the next try finds it."""
    house.platform.next_answers(done_but(fails(500)))
    assert (await house.refused())[:2] == (503, "platform_down")
    (kept,) = (await house.rest.ask("GET", LISTED)).json()["data"]
    assert (kept["status"], kept["platformTemplateId"]) == (None, None)
    assert await house.refused() == (400, "taken", ["name"])  # somebody may be at it still
    path = f"{BASE}/{kept['id']}"
    assert (await house.refused("PATCH", path, {"footerText": "x"}))[:2] == (409, "not_on_platform")
    clock.now += 120_000
    made = await house.create(bodyText="Other", components=[])
    assert (made["id"], made["status"], made["components"]) == (
        kept["id"],
        "PENDING",
        HELLO["components"],
    )
    assert len(house.there.all) == 1


async def test_a_lost_answer_may_also_be_synced_or_taken_away(house: Messaging) -> None:
    """What was made there without our knowing is found by its name."""
    house.platform.next_answers(done_but(fails(500)), done_but(fails(502)))
    await house.refused()
    await house.refused(body={**HELLO, "name": "second"})
    listed = (await house.rest.ask("GET", LISTED)).json()["data"]
    second = next(each for each in listed if each["name"] == "second")
    assert (await house.rest.ask("DELETE", f"{BASE}/{second['id']}")).status_code == 200
    assert [each["name"] for each in house.there.all.values()] == ["hello"]
    assert await house.sync() == {"checked": 1, "updated": 1, "missing": [], "unknown": 0}
    (kept,) = (await house.rest.ask("GET", LISTED)).json()["data"]
    assert (kept["status"], [kept["platformTemplateId"]]) == ("PENDING", list(house.there.all))


async def test_without_a_business_account(house: Messaging, bench: Bench) -> None:
    """An account that the settings do not name can't have the platform asked."""
    theirs = await house.rest.token_of("other", "other")
    assert house.rest.parts.settings.msgapp.accounts.pop("other")
    asked = {**HELLO, "phoneNumberId": phone_id("other")}
    refused = await house.rest.refused("POST", BASE, asked, token=theirs)
    assert refused[:2] == (400, "no_business_account")
    refused = await house.rest.refused("POST", f"{BASE}/sync-status", token=theirs)
    assert refused[:2] == (400, "no_business_account")


async def test_sent_again_it_is_made_once(house: Messaging) -> None:
    """With an idempotency key the answer is the same."""
    headers = {"Idempotency-Key": "k-1"}
    first = await house.rest.ask("POST", BASE, HELLO, headers=headers)
    again = await house.rest.ask("POST", BASE, HELLO, headers=headers)
    assert (first.status_code, again.json()) == (201, first.json())
    assert len(house.there.all) == 1
