"""Before the answer: the callee's early media, and inbound calls that ring."""

from typing import Any

import pytest

from tests.harness.live_lab import Lab
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.until import until

SAY = {"type": "say", "data": {"text": "Hello."}}


def dial(**data: object) -> dict[str, Any]:
    return {"type": "dial", "data": {"number": "+4722222222", **data}}


async def ended_event(lab: Lab, call: str) -> dict[str, Any]:
    return await lab.engine.wait_for_event(call, "completed")


async def test_the_caller_hears_the_announcement_of_the_network(lab: Lab) -> None:
    """The tone of the 183 instead of ringing; after the answer both talk in the same bridge."""
    number = await lab.add_number(dial(earlyMedia=True))
    async with (
        Phone.answering(lab.trunk_port, tone_hz=600, after_ms=NEVER_MS, announces=True) as far,
        Phone.calling(lab.pbx, number, tone_hz=400) as caller,
    ):
        await caller.until_hears(600)
        assert far.status == 183
        await far.pick_up()
        # Both have heard each other before: only the ACK says that the answer is complete.
        await until(lambda: any(m.method == "ACK" for m in far.messages), what="the answer")
        await far.until_hears(400)
        await caller.until_hears(600)
        await far.hang_up()
        await caller.wait_ended()


async def test_ringing_without_early_media_is_heard_through_the_bridge(lab: Lab) -> None:
    """A 180 without audio is a ringing tone."""
    number = await lab.add_number(dial(earlyMedia=True))
    async with (
        Phone.answering(lab.trunk_port, tone_hz=600, after_ms=NEVER_MS) as far,
        Phone.calling(lab.pbx, number, tone_hz=400) as caller,
    ):
        await far.wait_ringing()
        await caller.until_hears(440)
        await far.pick_up()
        await caller.until_hears(600)
        await far.hang_up()
        await caller.wait_ended()


@pytest.mark.parametrize("early", [False, True])
async def test_a_caller_is_answered_with_the_called_party(lab: Lab, early: bool) -> None:
    """It hears ringing by a 180, or the network's announcement, and is billed from the answer."""
    number = await lab.add_number(dial(earlyMedia=early), answer=False)
    async with (
        Phone.answering(lab.trunk_port, tone_hz=600, after_ms=NEVER_MS, announces=early) as far,
        Phone.calling(lab.pbx, number, tone_hz=400) as caller,
    ):
        await caller.wait_ringing()
        await far.wait_ringing()
        if early:
            await caller.until_hears(600)
        assert caller.status in {180, 183}
        call = await lab.wait_for_call()
        assert (await lab.engine.call(call)).get("answeredMs", 0) == 0
        await far.pick_up()
        await caller.wait_answered()
        await caller.until_hears(600)
        await far.until_hears(400)
        await far.hang_up()
        await caller.wait_ended()
    assert (await ended_event(lab, call))["callStatus"] == "completed"


async def test_a_caller_is_not_answered_by_a_party_that_refuses(lab: Lab) -> None:
    """The called party answers, but presses no key: the caller pays nothing, early media or not."""
    confirm = {"text": "Press one.", "timeout": 3_000}
    action = dial(earlyMedia=True, confirm=confirm)
    number = await lab.add_number(action, answer=False)
    async with (
        Phone.answering(lab.trunk_port, announces=True) as far,
        Phone.calling(lab.pbx, number) as caller,
    ):
        call = await lab.wait_for_call()
        await far.wait_ended()
        await caller.wait_ended()
        assert 200 not in [each.status for each in caller.messages if each.method == "INVITE"]
    assert "answeredMs" not in await lab.wait_ended(call)


@pytest.mark.parametrize(("status", "seen"), [(486, 486), (603, 403), (503, 503)])
async def test_a_caller_is_rejected_as_the_called_party_was(
    lab: Lab, status: int, seen: int
) -> None:
    """With a final SIP response and without an answer."""
    pause = {"type": "pause", "data": {"length": 3}, "action": dial()}
    number = await lab.add_number(pause, answer=False)
    async with (
        Phone.refusing(lab.trunk_port, status),
        Phone.calling(lab.pbx, number) as caller,
    ):
        call = await lab.wait_for_call()
        await caller.wait_ended()
    assert [m.status for m in caller.messages if m.status >= 200] == [seen]
    ended = await ended_event(lab, call)
    assert (ended["duration"], ended["endedBy"]) == (0, "action")


@pytest.mark.parametrize(("data", "seen"), [({}, 403), ({"reason": "busy"}, 486)])
async def test_a_hangup_rejects_the_caller(lab: Lab, data: dict[str, str], seen: int) -> None:
    """Before any answer."""
    number = await lab.add_number({"type": "hangup", "data": data}, answer=False)
    async with Phone.calling(lab.pbx, number) as caller:
        await caller.wait_ended()
        assert [m.status for m in caller.messages if m.status >= 200] == [seen]


async def test_a_prompt_answers_the_caller(lab: Lab) -> None:
    """The whole prompt is heard."""
    pause = {"type": "pause", "data": {"length": 1}, "action": SAY}
    number = await lab.add_number(pause, answer=False)
    async with Phone.calling(lab.pbx, number) as caller:
        await caller.wait_answered()
        statuses = [m.status for m in caller.messages if m.method == "INVITE"]
        assert 180 in statuses[: statuses.index(200)]
        await caller.wait_ended()


async def test_a_caller_that_gives_up_cancels_the_called_party(lab: Lab) -> None:
    """The call is canceled."""
    number = await lab.add_number(dial(), answer=False)
    async with (
        Phone.ringing(lab.trunk_port) as far,
        Phone.calling(lab.pbx, number) as caller,
    ):
        await far.wait_ringing()
        call = await lab.wait_for_call()
        await caller.hang_up()
        await far.wait_ended()
    ended = await ended_event(lab, call)
    assert (ended["callStatus"], ended["endedBy"], ended["duration"]) == ("canceled", "caller", 0)
    assert ended["hangupCause"] == 16
