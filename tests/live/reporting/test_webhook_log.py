"""The webhook log of a real call: every request to the customer, and the repetition of one."""

from typing import Any

from tests.harness.customers.callback_server import CallbackServer
from tests.harness.customers.webhook_server import WebhookServer, status
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.until import until

ACCOUNT = "webhooklog1"
HANGUP = {"type": "hangup", "data": {}}


async def attempts_of(lab: Lab, call: str, count: int) -> list[dict[str, Any]]:
    """Wait for the attempts of a call; return them from the first to the last."""
    found: list[dict[str, Any]] = []

    async def are_logged() -> bool:
        page = await lab.engine.rpc("GET", f"/webhooks/{ACCOUNT}?callId={call}")
        found[:] = reversed(page["attempts"])
        return len(found) >= count

    await until(are_logged, what=f"{count} attempts of {call}, of which are {found}")
    return found


async def test_every_request_of_a_call_is_logged(lab: Lab, hooks: WebhookServer) -> None:
    """A failed and a repeated webhook, digits, and callbacks; the timeline has the same ids."""
    hooks.answers("/menu", status(503), HANGUP)
    async with CallbackServer() as customer, Phone.answering(lab.trunk_port) as phone:
        await lab.engine.documents.callback(ACCOUNT, {"target": customer.url("/")})
        gather = {"type": "gather", "data": {"maxDigits": 1}, "action": hooks.url("/menu")}
        call = await lab.call(to="+15550100", account=ACCOUNT, action=gather)
        await lab.wait_for_state(call, "gathering")
        await phone.press("5")
        await phone.wait_ended()
        await until(lambda: any("completed" in str(e.event) for e in customer.requests))
        events = len(customer.requests)
        logged = await attempts_of(lab, call, events + 2)
    gathered = [each for each in logged if each["kind"] == "gather"]
    assert [(each["attempt"], each["outcome"]) for each in gathered] == [
        (1, "failed"),
        (2, "succeeded"),
    ]
    assert {each["requestId"] for each in gathered} == {hooks.requests_to("/menu")[0].id}
    callbacks = [each["requestId"] for each in logged if each["kind"] == "callback"]
    assert sorted(callbacks) == sorted(customer.ids(call))
    timeline = await lab.engine.rpc("GET", f"/calls/{call}/timeline")
    assert timeline["attempts"] == logged
    assert gathered[0]["requestId"] in {each.get("request") for each in timeline["rows"]}
    path = f"/webhooks/{ACCOUNT}/{gathered[0]['id']}"
    assert '"dtmf":"5"' in (await lab.engine.rpc("GET", path))["requestBody"]["text"]
    repeated = await lab.engine.rpc("POST", f"{path}/retry")
    assert (repeated["retryOf"], repeated["outcome"]) == (gathered[0]["id"], "succeeded")
    first, *_, last = hooks.requests_to("/menu")
    assert (first.id, first.body) == (last.id, last.body)
    again = await lab.engine.rpc("GET", f"/calls/{call}/timeline")
    (retry,) = [each for each in again["rows"] if each not in timeline["rows"]]
    assert retry["attempt"] == repeated["id"]
