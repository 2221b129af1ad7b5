"""Templates changed and deleted, here and on the platform, and lost responses."""

from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.templates.messaging import BASE, HELLO, LISTED, Messaging
from tests.harness.customers.msgapp_faults import fails, fails_after_serving
from tests.harness.customers.msgapp_names import phone_id
from tests.harness.rpc.scene import RpcScene

CHANGED = "Hello {{1}}, {{2}} has come."


async def test_a_template_is_changed(msgapp: Messaging) -> None:
    """It changes on the platform, too; omitted fields stay, and the platform sets the status."""
    made = await msgapp.create(footerText="Bye")
    msgapp.there.all[made["platformTemplateId"]]["status"] = "APPROVED"
    path = f"{BASE}/{made['id']}"
    change = {"bodyText": CHANGED, "name": "hello", "language": "en_US"}
    changed = (await msgapp.rest.request("PATCH", path, change)).json()
    texts = (changed["bodyText"], changed["footerText"], changed["status"])
    assert texts == (CHANGED, "Bye", "PENDING")
    there = msgapp.there.all[made["platformTemplateId"]]
    assert (
        there["components"] == changed["components"] == (await msgapp.get(made["id"]))["components"]
    )
    (request_body,) = msgapp.platform.requests_to("POST", f"/{made['platformTemplateId']}")
    assert request_body.body.keys() == {"components"}
    changed = (await msgapp.rest.request("PATCH", path, {"footerText": None})).json()
    assert changed["footerText"] is None
    change = {"category": "MARKETING", "components": HELLO["components"], "headerText": "Hi"}
    changed = (await msgapp.rest.request("PATCH", path, change)).json()
    assert (changed["category"], changed["headerText"]) == ("MARKETING", "Hi")
    assert changed["components"][1:] == HELLO["components"]


async def test_changes_without_a_request_to_the_platform(msgapp: Messaging) -> None:
    """Unchanged content, another number of the account, and invalid input send no request."""
    made = await msgapp.create()
    path = f"{BASE}/{made['id']}"
    number = {"businessName": "x", "phoneNumberId": "2", "businessMsgappNumber": "+4721930001"}
    await msgapp.rest.post("/srmain/msgapp-numbers", **number)
    before = len(msgapp.platform.requests)
    change = {"phoneNumberId": "2", "category": "UTILITY", "components": HELLO["components"]}
    change["bodyText"] = None  # as if it were absent
    changed = (await msgapp.rest.request("PATCH", path, change)).json()
    assert changed["phoneNumberId"] == "2"
    assert len(msgapp.platform.requests) == before
    for bad, name in (
        ({"name": "other"}, "name"),
        ({"language": "nb"}, "language"),
        ({"phoneNumberId": "phone-other"}, "phoneNumberId"),
        ({"bodyText": "{{2}}"}, "bodyText"),
        ({"parameter_format": "NAMED"}, "components[0].text"),
        ({"status": "APPROVED"}, "status"),
    ):
        problem = await msgapp.rejected("PATCH", path, bad)
        assert (problem[0], problem[2]) == (400, [name])
    assert len(msgapp.platform.requests) == before


async def test_a_template_is_deleted(msgapp: Messaging) -> None:
    """Only its language is deleted on the platform, where it may be missing already."""
    first, second = await msgapp.create(), await msgapp.create(language="nb")
    path = f"{BASE}/{first['id']}"
    assert (await msgapp.rest.request("DELETE", path)).json() == {
        "id": first["id"],
        "deleted": True,
    }
    assert list(msgapp.there.all) == [second["platformTemplateId"]]
    assert (await msgapp.rejected("GET", path))[0] == 404
    msgapp.there.all.clear()
    assert (await msgapp.rest.request("DELETE", f"{BASE}/{second['id']}")).status_code == 200
    assert (await msgapp.rest.request("GET", LISTED)).json()["total"] == 0


async def test_an_existing_template_is_linked(msgapp: Messaging) -> None:
    """With its platform id it is not created, and gets the content of the platform."""
    msgapp.there.put("77", name="hello", components=[{"type": "BODY", "text": "There."}])
    made = await msgapp.create(platformTemplateId="77", components=[])
    shown = (made["platformTemplateId"], made["status"], made["statusReason"], made["bodyText"])
    assert shown == ("77", "APPROVED", "NONE", "There.")
    for change in ({"name": "no_such"}, {"language": "nb"}, {"platformTemplateId": "78"}):
        request_body = {**HELLO, "platformTemplateId": "77", **change}
        problem = await msgapp.rejected(body=request_body)
        assert problem == (400, "unknown_template", ["platformTemplateId"])
    assert msgapp.platform.requests_to("POST", "/message_templates") == []


async def test_a_rejected_template_is_not_stored(msgapp: Messaging) -> None:
    """The response has the platform's text and codes, and the name is free again."""
    text = "This text is not fit to be sent."
    msgapp.platform.next_answers(fails(400, 100, error_subcode=2388299, error_user_msg=text))
    answer = await msgapp.rest.request("POST", BASE, HELLO)
    assert (answer.status_code, answer.json()["code"]) == (400, "platform_100")
    assert answer.json()["detail"] == (
        f"{text} (the messaging platform's code 100, subcode 2388299, trace AbCdEf123)"
    )
    assert (await msgapp.rest.request("GET", LISTED)).json()["total"] == 0
    await msgapp.create()


async def test_a_lost_response_is_recovered(msgapp: Messaging, clock: ManualClock) -> None:
    """After a 500 the template is stored without a status, and a retry finds it."""
    msgapp.platform.next_answers(fails_after_serving(fails(500)))
    assert (await msgapp.rejected())[:2] == (503, "platform_down")
    (kept,) = (await msgapp.rest.request("GET", LISTED)).json()["data"]
    assert (kept["status"], kept["platformTemplateId"]) == (None, None)
    assert await msgapp.rejected() == (400, "taken", ["name"])  # it may still be running
    path = f"{BASE}/{kept['id']}"
    assert (await msgapp.rejected("PATCH", path, {"footerText": "x"}))[:2] == (
        409,
        "not_on_platform",
    )
    clock.now += 120_000
    made = await msgapp.create(bodyText="Other", components=[])
    assert (made["id"], made["status"], made["components"]) == (
        kept["id"],
        "PENDING",
        HELLO["components"],
    )
    assert len(msgapp.there.all) == 1


async def test_a_lost_response_may_be_synced_or_deleted(msgapp: Messaging) -> None:
    """Both requests find the template by its name."""
    msgapp.platform.next_answers(fails_after_serving(fails(500)), fails_after_serving(fails(502)))
    await msgapp.rejected()
    await msgapp.rejected(body={**HELLO, "name": "second"})
    listed = (await msgapp.rest.request("GET", LISTED)).json()["data"]
    second = next(each for each in listed if each["name"] == "second")
    assert (await msgapp.rest.request("DELETE", f"{BASE}/{second['id']}")).status_code == 200
    assert [each["name"] for each in msgapp.there.all.values()] == ["hello"]
    assert await msgapp.sync() == {"checked": 1, "updated": 1, "missing": [], "unknown": 0}
    (kept,) = (await msgapp.rest.request("GET", LISTED)).json()["data"]
    assert (kept["status"], [kept["platformTemplateId"]]) == ("PENDING", list(msgapp.there.all))


async def test_without_a_business_account(msgapp: Messaging, scene: RpcScene) -> None:
    """An account that the settings do not name can't use the platform."""
    theirs = await msgapp.rest.token_of("other", "other")
    assert msgapp.rest.services.settings.msgapp.accounts.pop("other")
    request_body = {**HELLO, "phoneNumberId": phone_id("other")}
    problem = await msgapp.rest.rejected("POST", BASE, request_body, token=theirs)
    assert problem[:2] == (400, "no_business_account")
    problem = await msgapp.rest.rejected("POST", f"{BASE}/sync-status", token=theirs)
    assert problem[:2] == (400, "no_business_account")


async def test_a_repeated_request_creates_one_template(msgapp: Messaging) -> None:
    """With an idempotency key the response is the same."""
    headers = {"Idempotency-Key": "k-1"}
    first = await msgapp.rest.request("POST", BASE, HELLO, headers=headers)
    again = await msgapp.rest.request("POST", BASE, HELLO, headers=headers)
    assert (first.status_code, again.json()) == (201, first.json())
    assert len(msgapp.there.all) == 1
