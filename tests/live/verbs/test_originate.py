"""Starts of calls: click-to-call in both directions, inbound numbers and limits."""

from pathlib import Path

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError

LONG_MS = 60_000


async def test_click_to_call_shows_from(lab: Lab) -> None:
    """`to` is called with `from` as caller id, then its dial action bridges both parties."""
    port = free_port()
    async with (
        Phone.answering(lab.trunk_port, tone_hz=400) as first,
        Phone.answering(port, tone_hz=600) as second,
    ):
        action = {"type": "dial", "data": {"number": second.address}}
        call = await lab.call(**{"from": "+4721930000", "to": "+4722222222"}, action=action)
        await first.until_hears(600)
        await second.until_hears(400)
        assert first.caller_id == "+4721930000"
        await first.hang_up()
        await second.wait_ended()
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_click_to_call_from_first(lab: Lab) -> None:
    """With fromFirst `from` is called before `to`; the action runs after the conversation."""
    port = free_port()
    async with (
        Phone.answering(port, tone_hz=400) as first,
        Phone.answering(lab.trunk_port, tone_hz=600) as second,
    ):
        request = {"from": first.address, "to": "+4722222222", "fromFirst": True}
        call = await lab.call(**request, action={"type": "hangup", "data": {}})
        await first.wait_answered()
        await first.until_hears(600)
        await second.until_hears(400)
        await second.hang_up()
        await first.wait_ended()
    view = await lab.wait_ended(call)
    assert (view["status"], view["endedBy"]) == ("completed", "action")


async def test_unanswered_calls_end_with_the_status_of_the_phone(lab: Lab) -> None:
    """The status of the first leg is that of the call: busy, no-answer or failed."""
    outcomes = {486: ("busy", ""), 480: ("no-answer", ""), 603: ("failed", "rejected")}
    for status, (ends, reason) in outcomes.items():
        async with Phone.refusing(lab.trunk_port, status):
            view = await lab.wait_ended(await lab.call(to="+15550100"))
            assert (view["status"], view.get("reason", "")) == (ends, reason)


async def test_an_unanswered_call_is_canceled_at_the_timeout(lab: Lab) -> None:
    """A call that is not answered within its timeout is canceled with status no-answer."""
    async with Phone.ringing(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", timeout=1)
        await phone.wait_ended()
        assert (await lab.wait_ended(call))["status"] == "no-answer"


async def test_a_number_runs_its_route(lab: Lab, sounds: MediaServer) -> None:
    """A call to a routed number runs the action of the route and is hung up."""
    action = {"type": "play", "data": {"audioUrl": sounds.tone(600, 500)}}
    number = await lab.add_number(action)
    async with Phone.calling(lab.pbx, number) as caller:
        await caller.wait_ended()
        assert len(caller.tones_heard(600)) == 1
        assert caller.status == 200


async def test_an_unknown_number_gets_404(lab: Lab) -> None:
    """A call to a number without a route is refused with 404."""
    async with Phone.calling(lab.pbx, "15559999") as caller:
        await caller.wait_ended()
        assert caller.status == 404


async def test_a_call_over_the_limit_gets_503(tmp_path: Path, sounds: MediaServer) -> None:
    """A call over the limit gets 503 on SIP and RPC; the live call continues."""
    async with open_lab(tmp_path, engine_settings={"SWITCHROOM_MAX_CALLS": "1"}) as lab:
        action = {"type": "play", "data": {"audioUrl": sounds.tone(600, LONG_MS)}}
        number = await lab.add_number(action)
        async with Phone.calling(lab.pbx, number) as first:
            await first.until_hears(600)
            async with Phone.calling(lab.pbx, number) as second:
                await second.wait_ended()
                assert second.status == 503
            with pytest.raises(RequestError) as refused:
                await lab.call(to="+15550100")
            assert refused.value.problem["code"] == "overloaded"
            await first.until_hears(600)
            await first.hang_up()
        await lab.wait_empty()


async def test_a_flow_uses_contact_variables(lab: Lab) -> None:
    """`{{contact.fName}}` in a stored flow is replaced by the name of the contact."""
    flow = {"type": "say", "data": {"text": "Hello {{contact.fName}}"}}
    await lab.engine.documents.flow("acme", "hello", flow)
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", flowId="hello", contact={"fName": "Ada"})
        await phone.wait_ended()
        assert phone.sound_spans()
    rows = (await lab.engine.rpc("GET", f"/calls/{call}/timeline"))["rows"]
    assert "say “Hello Ada”" in [each["text"] for each in rows]
