"""Statuses of templates, told by the platform itself: signed, and in whatever order."""

import asyncio
from typing import Any

from tests.contract.api.manual_clock import ManualClock
from tests.contract.api.templates.messaging import BASE, LISTED, Messaging
from tests.harness.customers import msgapp_faults as faults
from tests.harness.customers.msgapp_names import SECRET, VERIFY, signed, status_webhook

HOOK = "/srmain/msgapp-webhook"
SYNC = f"{BASE}/sync-status"


async def told(stack: Messaging, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    """Tell as the platform does; give status and answer."""
    answer = await stack.rest.client.post(HOOK, content=body, headers=headers)
    return answer.status_code, answer.json()


async def test_the_platform_tells_at_once(stack: Messaging, clock: ManualClock) -> None:
    """Its event is the status, its reason the reason; told again it is the same."""
    made = await stack.create()
    key = made["platformTemplateId"]
    for event, reason in (("APPROVED", "NONE"), ("PAUSED", None), ("A_NEW_ONE", "BECAUSE")):
        body, headers = status_webhook("acme", key, event, at_s=7, reason=reason)
        assert await told(stack, body, headers) == (200, {"noted": 1})
        assert await told(stack, body, headers) == (200, {"noted": 1})
        shown = await stack.get(made["id"])
        assert (shown["status"], shown["statusReason"]) == (event, reason)


async def test_what_is_told_late_is_old(stack: Messaging) -> None:
    """Of two the platform's later one counts, in whichever order they come."""
    made = await stack.create()
    key = made["platformTemplateId"]
    assert await told(stack, *status_webhook("acme", key, "REJECTED", at_s=20)) == (
        200,
        {"noted": 1},
    )
    assert await told(stack, *status_webhook("acme", key, "APPROVED", at_s=10)) == (
        200,
        {"noted": 0},
    )
    assert (await stack.get(made["id"]))["status"] == "REJECTED"


async def test_what_is_told_while_we_ask_is_newer(stack: Messaging, clock: ManualClock) -> None:
    """A page that was on its way does not take back what was told meanwhile."""
    made = await stack.create()
    key = made["platformTemplateId"]
    clock.now += 10
    held, let_go = faults.delayed()
    stack.there.all[key]["status"] = "IN_APPEAL"
    stack.platform.next_answers(held)
    syncing = asyncio.create_task(stack.sync())
    await stack.platform.asked("GET", "/message_templates")
    clock.now += 10
    assert await told(stack, *status_webhook("acme", key, "APPROVED")) == (200, {"noted": 1})
    let_go()
    assert (await syncing)["updated"] == 0
    assert (await stack.get(made["id"]))["status"] == "APPROVED"
    clock.now += 10
    assert (await stack.sync())["updated"] == 1


async def test_only_of_the_business_accounts_own(stack: Messaging) -> None:
    """Another business account's notice, an unknown template or other news change nothing."""
    made = await stack.create()
    key = made["platformTemplateId"]
    assert await told(stack, *status_webhook("other", key, "REJECTED")) == (200, {"noted": 0})
    assert await told(stack, *status_webhook("nobody", key, "REJECTED")) == (200, {"noted": 0})
    unknown = status_webhook("acme", "1", "REJECTED", message_template_name="x")
    assert await told(stack, *unknown) == (200, {"noted": 0})
    assert (await stack.get(made["id"]))["status"] == "PENDING"


async def test_a_notice_settles_what_was_not_answered(stack: Messaging) -> None:
    """A template whose making was never heard of is known by its name and language."""
    stack.platform.next_answers(faults.fails_after_serving(faults.fails(500)))
    await stack.refused()
    (key,) = stack.there.all
    assert await told(stack, *status_webhook("acme", key, "APPROVED")) == (200, {"noted": 1})
    (kept,) = (await stack.rest.request("GET", LISTED)).json()["data"]
    assert (kept["status"], kept["platformTemplateId"]) == ("APPROVED", key)


async def test_one_bad_change_does_not_hold_up_the_others(stack: Messaging) -> None:
    """Several entries and changes at once; what is not understood is left out."""
    made = await stack.create()
    good = {
        "event": "APPROVED",
        "message_template_id": int(made["platformTemplateId"]),
        "message_template_name": "hello",
        "message_template_language": "en-US",
        "reason": "NONE",
    }
    field = "message_template_status_update"
    changes = [
        {"field": "messages", "value": {"messages": [{"text": {"body": "hi"}}]}},
        {"field": field},
        {"field": field, "value": {"event": 7}},
        {"field": field, "value": {**good, "reason": "a\0b"}},
        {"field": field, "value": good},
    ]
    entries = [{"id": "0", "changes": []}, {"id": "business-acme", "time": 1, "changes": changes}]
    body, headers = signed({"object": "business_account", "entry": entries})
    assert await told(stack, body, headers) == (200, {"noted": 1})


async def test_only_the_platform_is_believed(one: Messaging) -> None:
    """A signature that is missing, another's, or another body's: 401, and nothing is read."""
    made = await one.create()
    body, headers = status_webhook("acme", made["platformTemplateId"], "APPROVED")
    name = "X-Hub-Signature-256"
    digest = headers[name]
    for given in (
        {},
        {name: ""},
        {name: digest.removeprefix("sha256=")},
        {name: digest.upper()},
        {name: digest[:-1]},
        {name: f"sha1={digest[7:]}"},
        signed([], "another-secret")[1],
    ):
        status, answer = await told(one, body, given)
        assert (status, answer["code"]) == (401, "bad_signature")
    assert (await told(one, body + b" ", headers))[0] == 401
    assert (await one.get(made["id"]))["status"] == "PENDING"


async def test_a_signed_notice_that_is_none(one: Messaging) -> None:
    """400, whatever it is; three megabytes are taken, more are not."""
    late = {"entry": [{"id": "business-acme", "time": 2**63}]}
    bad: tuple[Any, ...] = ([], {}, {"entry": 7}, {"entry": [{"id": 7}]}, "x", late)
    for what in bad:
        status, _answer = await told(one, *signed(what))
        assert status == 400, what
    padding = {"object": "x" * 3_000_000, "entry": []}
    assert await told(one, *signed(padding)) == (200, {"noted": 0})
    assert (await told(one, *signed({**padding, "more": "x" * 200_000})))[0] == 413


async def test_the_challenge_is_given_back(one: Messaging) -> None:
    """To who knows the verify token, as plain text."""
    query = {"hub.mode": "subscribe", "hub.verify_token": VERIFY, "hub.challenge": "1158201444"}
    answer = await one.rest.client.get(HOOK, params=query)
    assert (answer.status_code, answer.text) == (200, "1158201444")
    assert answer.headers["content-type"].startswith("text/plain")
    for change in ({"hub.verify_token": SECRET}, {"hub.mode": "unsubscribe"}):
        refused = await one.rest.rejected("GET", HOOK, params={**query, **change})
        assert refused[:2] == (401, "bad_verify_token")
    del query["hub.challenge"]
    assert (await one.rest.rejected("GET", HOOK, params=query))[0] == 400


async def test_without_a_secret_there_is_no_webhook(rest: Any) -> None:
    """Where nothing is set up, nobody is believed."""
    query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "x"}
    assert (await rest.rejected("GET", HOOK, params=query))[0] == 404
    assert (await rest.rejected("POST", HOOK, b"{}"))[0] == 404
