"""Template statuses by webhook: signed, in any order."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.templates.messaging import BASE, LISTED, Messaging
from tests.harness.customers import msgapp_faults as faults
from tests.harness.customers.msgapp_names import SECRET, VERIFY, signed, status_webhook
from tests.harness.until import until

HOOK = "/srmain/msgapp-webhook"
SYNC = f"{BASE}/sync-status"


async def notify(msgapp: Messaging, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    """Send a notification as the platform does; return status and response."""
    answer = await msgapp.rest.client.post(HOOK, content=body, headers=headers)
    return answer.status_code, answer.json()


async def test_a_notification_updates_the_status(msgapp: Messaging, clock: ManualClock) -> None:
    """It has status and reason; a repetition changes nothing."""
    made = await msgapp.create()
    key = made["platformTemplateId"]
    for event, reason in (("APPROVED", "NONE"), ("PAUSED", None), ("A_NEW_ONE", "BECAUSE")):
        body, headers = status_webhook("acme", key, event, at_s=7, reason=reason)
        assert await notify(msgapp, body, headers) == (200, {"noted": 1})
        assert await notify(msgapp, body, headers) == (200, {"noted": 1})
        shown = await msgapp.get(made["id"])
        assert (shown["status"], shown["statusReason"]) == (event, reason)


async def test_a_late_notification_is_outdated(msgapp: Messaging) -> None:
    """The platform's time decides, not the order of arrival."""
    made = await msgapp.create()
    key = made["platformTemplateId"]
    assert await notify(msgapp, *status_webhook("acme", key, "REJECTED", at_s=20)) == (
        200,
        {"noted": 1},
    )
    assert await notify(msgapp, *status_webhook("acme", key, "APPROVED", at_s=10)) == (
        200,
        {"noted": 0},
    )
    assert (await msgapp.get(made["id"]))["status"] == "REJECTED"


async def test_a_notification_during_a_sync_is_newer(msgapp: Messaging, clock: ManualClock) -> None:
    """A page that was requested earlier does not overwrite it."""
    made = await msgapp.create()
    key = made["platformTemplateId"]
    clock.now += 10
    held, let_go = faults.delayed()
    msgapp.there.all[key]["status"] = "IN_APPEAL"
    msgapp.platform.next_answers(held)
    syncing = asyncio.create_task(msgapp.sync())
    await msgapp.platform.wait_for_request("GET", "/message_templates")
    clock.now += 10
    assert await notify(msgapp, *status_webhook("acme", key, "APPROVED")) == (200, {"noted": 1})
    let_go()
    assert (await syncing)["updated"] == 0
    assert (await msgapp.get(made["id"]))["status"] == "APPROVED"
    clock.now += 10
    assert (await msgapp.sync())["updated"] == 1


async def test_only_the_business_accounts_templates(msgapp: Messaging) -> None:
    """Notifications of other business accounts or unknown templates change nothing."""
    made = await msgapp.create()
    key = made["platformTemplateId"]
    assert await notify(msgapp, *status_webhook("other", key, "REJECTED")) == (200, {"noted": 0})
    assert await notify(msgapp, *status_webhook("nobody", key, "REJECTED")) == (200, {"noted": 0})
    unknown = status_webhook("acme", "1", "REJECTED", message_template_name="x")
    assert await notify(msgapp, *unknown) == (200, {"noted": 0})
    assert (await msgapp.get(made["id"]))["status"] == "PENDING"


async def test_a_notification_settles_a_pending_template(msgapp: Messaging) -> None:
    """Name and language identify the template."""
    msgapp.platform.next_answers(faults.fails_after_serving(faults.fails(500)))
    await msgapp.rejected()
    (key,) = msgapp.there.all
    assert await notify(msgapp, *status_webhook("acme", key, "APPROVED")) == (200, {"noted": 1})
    (kept,) = (await msgapp.rest.request("GET", LISTED)).json()["data"]
    assert (kept["status"], kept["platformTemplateId"]) == ("APPROVED", key)


async def test_an_invalid_change_does_not_block_the_others(msgapp: Messaging) -> None:
    """Of several changes in one request, only the invalid ones are ignored."""
    made = await msgapp.create()
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
    assert await notify(msgapp, body, headers) == (200, {"noted": 1})


async def test_signatures_are_verified(one: Messaging) -> None:
    """A missing or wrong signature gets 401 and changes nothing."""
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
        status, answer = await notify(one, body, given)
        assert (status, answer["code"]) == (401, "bad_signature")
    assert (await notify(one, body + b" ", headers))[0] == 401
    assert (await one.get(made["id"]))["status"] == "PENDING"


async def test_invalid_notifications(one: Messaging) -> None:
    """They get 400; a body may have three megabytes."""
    late = {"entry": [{"id": "business-acme", "time": 2**63}]}
    bad: tuple[Any, ...] = ([], {}, {"entry": 7}, {"entry": [{"id": 7}]}, "x", late)
    for what in bad:
        status, _answer = await notify(one, *signed(what))
        assert status == 400, what
    padding = {"object": "x" * 3_000_000, "entry": []}
    assert await notify(one, *signed(padding)) == (200, {"noted": 0})
    assert (await notify(one, *signed({**padding, "more": "x" * 200_000})))[0] == 413


class SlowBody:
    """A signed body in parts, which ends when it may."""

    def __init__(self) -> None:
        self.read = 0  # parts
        self.may_end = asyncio.Event()
        self.body, self.headers = signed({"object": "x" * 200_000, "entry": []})

    async def parts(self) -> AsyncIterator[bytes]:
        for part in (self.body[:100_000], self.body[100_000:-1], self.body[-1:]):
            self.read += 1
            if self.read == 3:
                await self.may_end.wait()
            yield part

    async def send(self, msgapp: Messaging) -> int:
        post = msgapp.rest.client.post
        return (await post(HOOK, content=self.parts(), headers=self.headers)).status_code


async def test_large_bodies_of_one_network_are_read_in_turn(one: Messaging) -> None:
    """What may be forged takes the memory of one; small ones are not delayed."""
    first, second = SlowBody(), SlowBody()
    async with asyncio.TaskGroup() as group:
        sent = [group.create_task(each.send(one)) for each in (first, second)]
        await until(lambda: (first.read, second.read) == (3, 1))
        assert (await notify(one, *signed({"entry": []})))[0] == 200
        assert second.read == 1
        first.may_end.set()
        second.may_end.set()
    assert [each.result() for each in sent] == [200, 200]


async def test_what_cannot_be_signed_is_not_read(one: Messaging) -> None:
    """It is refused by its header."""
    for signature in ("", "sha256=", f"sha1={'0' * 64}", f"sha256={'0' * 63}"):
        body = SlowBody()
        body.headers["X-Hub-Signature-256"] = signature
        assert (await body.send(one), body.read) == (401, 0), signature


async def test_the_challenge_is_returned(one: Messaging) -> None:
    """With the verify token it is returned as plain text."""
    query = {"hub.mode": "subscribe", "hub.verify_token": VERIFY, "hub.challenge": "1158201444"}
    answer = await one.rest.client.get(HOOK, params=query)
    assert (answer.status_code, answer.text) == (200, "1158201444")
    assert answer.headers["content-type"].startswith("text/plain")
    for change in ({"hub.verify_token": SECRET}, {"hub.mode": "unsubscribe"}):
        problem = await one.rest.rejected("GET", HOOK, params={**query, **change})
        assert problem[:2] == (401, "bad_verify_token")
    del query["hub.challenge"]
    assert (await one.rest.rejected("GET", HOOK, params=query))[0] == 400


async def test_without_a_secret_there_is_no_webhook(rest: Any) -> None:
    """Without settings the paths get 404."""
    query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "x"}
    assert (await rest.rejected("GET", HOOK, params=query))[0] == 404
    assert (await rest.rejected("POST", HOOK, b"{}"))[0] == 404
