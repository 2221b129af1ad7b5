"""Test messages of templates over HTTP, with a simulated platform."""

from typing import Any

import pytest

from tests.harness.api.templates.messaging import BASE, Messaging
from tests.harness.customers import msgapp_faults as faults
from tests.harness.customers.msgapp_names import PRODUCT, phone_id, token

SEND = f"{BASE}/test-send"
TO = "+4722222222"
VALUES = {"1": "Ada", "2": "the order"}


async def test_a_template_is_sent(one: Messaging) -> None:
    """The message has its values and an E.164 number; the response has the platform's id."""
    made = await one.approved()
    request_body = {
        "templateId": made["id"],
        "phoneNumber": "47 22 22 22 22",
        "variableValues": VALUES,
    }
    sent = await one.rest.post(SEND, **request_body)
    assert sent == {"messageId": "wamid.1", "messageStatus": "accepted", "phoneNumber": TO}
    parameters = [{"type": "text", "text": each} for each in VALUES.values()]
    assert one.platform.messages == [
        {
            "messaging_product": PRODUCT,
            "recipient_type": "individual",
            "to": TO,
            "type": "template",
            "template": {
                "name": "hello",
                "language": {"code": "en_US"},
                "components": [{"type": "body", "parameters": parameters}],
            },
        }
    ]
    assert one.platform.requests[-1].path.endswith(f"/{phone_id('acme')}/messages")


async def test_a_template_without_placeholders(one: Messaging) -> None:
    """It needs no values."""
    made = await one.approved(components=[], bodyText="Hello.")
    await one.rest.post(SEND, templateId=made["id"], phoneNumber=TO)
    assert one.platform.messages[0]["template"].keys() == {"name", "language"}


async def test_the_sender_may_be_another(one: Messaging) -> None:
    """The sender must be an active number of the account."""
    made = await one.approved()
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    number = {"businessName": "x", "phoneNumberId": "p2", "businessMsgappNumber": "+4721930001"}
    kept = await one.rest.post("/srmain/msgapp-numbers", **number)
    one.platform.next_answers(faults.fails(400, 131009, "Parameter value is not valid"))
    problem = await one.rest.rejected("POST", SEND, {**request_body, "senderPhoneNumberId": "p2"})
    assert problem[:2] == (400, "platform_131009")
    await one.rest.request("PATCH", f"/srmain/msgapp-numbers/{kept['id']}", {"isActive": False})
    for sender in ("p2", phone_id("other"), "none"):
        fields = {**request_body, "senderPhoneNumberId": sender}
        status, _code, paths = await one.rest.rejected("POST", SEND, fields)
        assert (status, paths) == (400, ["senderPhoneNumberId"])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"templateId": None}, "templateId"),
        ({"templateId": "unknown"}, "templateId"),
        ({"templateId": "\x00"}, "templateId"),
        ({"phoneNumber": None}, "phoneNumber"),
        ({"phoneNumber": "call me"}, "phoneNumber"),
        ({"phoneNumber": "+1"}, "phoneNumber"),
        ({"variableValues": {"1": "Ada"}}, "variableValues.2"),
        ({"variableValues": {**VALUES, "3": "x"}}, "variableValues.3"),
        ({"variableValues": {"1": "", "2": "x"}}, "variableValues.1"),
        ({"variableValues": {"1": "a\nb", "2": "x"}}, "variableValues.1"),
        ({"variableValues": {"1": "a     b", "2": "x"}}, "variableValues.1"),
        ({"variableValues": {"1": "a" * 1_000, "2": "b" * 20}}, "variableValues"),
        ({"variableValues": {"1": [7], "2": "x"}}, "variableValues.1"),
        ({"variableValues": []}, "variableValues"),
        ({"senderPhoneNumberId": "a/b"}, "senderPhoneNumberId"),
        ({"extra": 1}, "extra"),
    ],
)
async def test_bad_input_names_its_field(one: Messaging, change: dict[str, Any], path: str) -> None:
    """The error names the field, and nothing is sent."""
    made = await one.approved()
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES, **change}
    request_body = {name: each for name, each in request_body.items() if each is not None}
    status, _code, paths = await one.rest.rejected("POST", SEND, request_body)
    assert (status, paths) == (400, [path])
    assert one.platform.requests_to("POST", "/messages") == []


async def test_errors_of_the_platform(one: Messaging) -> None:
    """A template that is missing or not approved there gets 400 with the platform's code."""
    made = await one.create()
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    assert (await one.rest.rejected("POST", SEND, request_body))[:2] == (400, "platform_132015")
    one.there.all.clear()
    assert (await one.rest.rejected("POST", SEND, request_body))[:2] == (400, "platform_132001")
    theirs = await one.rest.token_of("other", "other")
    problem = await one.rest.rejected("POST", SEND, request_body, token=theirs)
    assert problem == (400, "unknown_template", ["templateId"])


async def test_a_repeated_token_stays_secret(one: Messaging) -> None:
    """The platform repeats a token that it rejects; the customer never sees it."""
    made = await one.approved()
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    text = f"Malformed access token {token('acme')}"
    one.platform.next_answers(faults.fails(401, 190, text))
    answer = await one.rest.request("POST", SEND, request_body)
    assert (answer.status_code, answer.json()["code"]) == (503, "platform_denied")
    assert "Malformed access token" in answer.text
    assert token("acme") not in answer.text


@pytest.mark.parametrize("fault", [faults.disconnects(), faults.never_answers(), faults.fails(500)])
async def test_a_message_is_not_retried(one: Messaging, fault: faults.Fault) -> None:
    """It is sent once, whatever the response is."""
    made = await one.approved()
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    one.platform.next_answers(faults.fails_after_serving(fault))
    assert (await one.rest.rejected("POST", SEND, request_body))[:2] == (503, "platform_down")
    assert len(one.platform.messages) == 1


async def test_a_repeated_request_sends_one_message(one: Messaging) -> None:
    """The repeated response equals the first one."""
    made = await one.approved()
    request_body = {"templateId": made["id"], "phoneNumber": TO, "variableValues": VALUES}
    headers = {"Idempotency-Key": "k-1"}
    first = await one.rest.request("POST", SEND, request_body, headers=headers)
    again = await one.rest.request("POST", SEND, request_body, headers=headers)
    assert (first.status_code, again.json()) == (200, first.json())
    assert len(one.platform.messages) == 1
