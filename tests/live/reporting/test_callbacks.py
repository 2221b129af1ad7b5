"""Status callbacks of real calls."""

from typing import Any

from tests.harness.customers.callback_server import CallbackServer
from tests.harness.customers.grpc_server import GrpcCallbackServer
from tests.harness.customers.signatures import verified
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.until import until

SAY = {"type": "say", "data": {"text": "Hello."}}


async def _events_to_end(customer: CallbackServer, call: str) -> list[dict[str, Any]]:
    """Wait for the last event of a call and return all its events."""

    def is_over() -> bool:
        return any(
            each.event["event"] == "completed" for each in customer.requests if call in each.id
        )

    await until(is_over, what=f"the last event of {call}")
    return [each.event for each in customer.requests if each.id.startswith(call)]


async def test_each_call_event_is_reported(lab: Lab) -> None:
    """An outbound call with a dialled leg: events in order, signed, with reference ids."""
    account, port = "callbacks1", free_port()
    async with (
        CallbackServer() as customer,
        Phone.answering(lab.trunk_port) as first,
        Phone.answering(port) as second,
    ):
        target = {"target": customer.url("/status")}
        secret = (await lab.engine.documents.callback(account, target))["secret"]
        data = {"number": second.address, "agent_id": "sales7", "reference_id": "r-1"}
        call = await lab.call(
            to="+4722222222",
            account=account,
            action={"type": "dial", "data": data},
            statusCallbackUrl="auto-set",
            customData={"order": 4711},
        )
        await lab.wait_for_state(call, "bridged")
        await first.hang_up()
        events = await _events_to_end(customer, call)
    assert [each["sequenceNumber"] for each in events] == list(range(len(events)))
    kinds = [each["event"] for each in events]
    assert kinds[:3] == ["initiated", "ringing", "answered"]
    assert kinds[3:6] == ["leg-initiated", "leg-ringing", "leg-answered"]
    assert sorted(kinds[6:]) == ["completed", "leg-completed"]
    leg = events[3]
    assert (leg["agent_id"], leg["reference_id"]) == ("sales7", "r-1")
    assert leg["parentCallId"] == call
    assert events[-1]["callStatus"] == "completed"
    assert all(each["customData"] == {"order": 4711} for each in events)
    assert "record" not in events[-1]  # the record is internal
    for got in customer.requests:
        assert verified(secret, got.body, got.headers, target["target"]) == got.event


async def test_unanswered_calls_report_their_status(lab: Lab) -> None:
    """The last event has the status busy, no-answer, failed or canceled."""
    account = "callbacks2"
    async with CallbackServer() as customer:
        await lab.engine.documents.callback(account, {"target": customer.url("/")})
        for status, ends in {486: "busy", 480: "no-answer", 603: "failed"}.items():
            async with Phone.refusing(lab.trunk_port, status):
                call = await lab.call(to="+15550100", account=account)  # reported by default
                events = await _events_to_end(customer, call)
            assert (events[-1]["callStatus"], events[-1]["hangupCause"] > 0) == (ends, True)
        async with Phone.ringing(lab.trunk_port) as phone:
            call = await lab.call(to="+15550100", account=account)
            await phone.wait_ringing()
            await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
            assert (await _events_to_end(customer, call))[-1]["callStatus"] == "canceled"
            await phone.wait_ended()  # else Asterisk repeats the CANCEL to the next phone


async def test_an_inbound_call_is_reported_to_its_target(lab: Lab) -> None:
    """The route of a number may name a target; the default is the target of the account."""
    account = "callbacks3"
    async with CallbackServer() as customer, GrpcCallbackServer() as other:
        await lab.engine.documents.callback(account, {"target": customer.url("/")})
        for more in ({}, {"statusCallbackUrl": other.target}):
            number = await lab.add_number(SAY, **{"account": account, **more})
            async with Phone.calling(lab.pbx, number) as phone:
                await phone.wait_ended()
        await until(
            lambda: any(each.event.event == "completed" for each in other.callbacks),
            what="the last event of the second call",
        )
        await until(lambda: len(customer.requests) >= 3, what="the last event of the first call")
    assert [each.event["event"] for each in customer.requests] == [
        "initiated",
        "answered",
        "completed",
    ]
    assert [each.event.event for each in other.callbacks] == ["initiated", "answered", "completed"]
    assert {each.event.direction for each in other.callbacks} == {"inbound"}
