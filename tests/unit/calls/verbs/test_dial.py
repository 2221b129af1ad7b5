"""dial: call, bridge the first to answer, advance when the bridged party hangs up."""

from typing import Any

import pytest

from engine.calls.model.call_states import Dialing
from engine.calls.model.causes import BUSY, LOST, NO_ANSWER, NORMAL, REJECTED
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Dial,
    Hangup,
    Originate,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StopHoldMusic,
    StopRinging,
)
from engine.calls.model.events import DeadlinePassed, LegAnswered, LegCreated, LegEnded, LegRinging
from engine.calls.model.io_commands import SendWebhook
from tests.harness.calls.builders import (
    HTTPS,
    MAIN,
    answered_call,
    bridged_call,
    dialing_call,
    say,
)
from tests.harness.calls.dials import BOB, BRIDGE, EVE, FIRST, SECOND, dial_result


def test_a_number_is_called() -> None:
    """The main leg hears ringing; the called party sees the call's caller id."""
    story = dialing_call(BOB, timeout=20)
    assert story.commands_of(StartRinging) == [StartRinging(MAIN)]
    assert story.commands_of(Originate)[-1] == Originate(FIRST, BOB, "+4799", originator=MAIN)
    assert story.state_as(Dialing).deadline_ms == story.now + 20_000
    assert story.emitted[-1].event == "leg-initiated"
    assert story.take(LegCreated(FIRST), 400) == (Dial(FIRST, 20),)
    assert story.state_as(Dialing).deadline_ms == story.now + 20_000
    story.take(LegRinging(FIRST), 900)
    assert story.take(LegCreated(FIRST), 100) == ()
    assert story.state_as(Dialing).deadline_ms == story.now + 19_000


@pytest.mark.parametrize(
    ("caller_id", "withheld"),
    [(None, True), ("+4799", True), ("4799", True), ("004799", True), ("+4755", False)],
)
def test_a_withheld_number_stays_withheld(caller_id: str | None, withheld: bool) -> None:
    """Also if the verb names it; a number of its own, dial.data: callerId, is shown."""
    data = {"number": BOB, "callerId": caller_id}
    story = answered_call({"type": "dial", "data": data}, privacy=True)
    shown = caller_id or "+4799"
    assert story.commands_of(Originate)[-1] == Originate(FIRST, BOB, shown, withheld, MAIN)


def test_an_agent_is_called() -> None:
    """agent_id alone names an agent; it and reference_id are in the leg's events."""
    story = dialing_call(data={"agent_id": "7", "reference_id": "ticket 9"}, action=HTTPS)
    assert story.commands_of(Originate)[-1].party == "agent:7"
    assert (story.emitted[-1].agent_id, story.emitted[-1].reference_id) == ("7", "ticket 9")
    story.take(LegAnswered(FIRST))
    story.take(LegEnded(FIRST, NORMAL), 4_000)
    assert dial_result(story)["agent_id"] == "7"
    assert dial_result(story)["reference_id"] == "ticket 9"
    assert "number" not in dial_result(story)


def test_a_number_with_an_agent_id_is_called_by_number() -> None:
    """agent_id beside a number is only a tracking value."""
    story = dialing_call(data={"number": BOB, "agent_id": "7"})
    assert [each.party for each in story.commands_of(Originate)[1:]] == [BOB]


@pytest.mark.parametrize(
    "more", [{"moh": {"enable": True}}, {"data": {"number": BOB, "moh": {"enable": True}}}]
)
def test_music_on_hold(more: dict[str, Any]) -> None:
    """moh.enable plays hold music instead of ringing until the answer."""
    story = dialing_call(BOB, **more)
    assert story.commands_of(StartHoldMusic) == [StartHoldMusic(MAIN)]
    assert story.commands_of(StartRinging) == []
    assert story.take(LegAnswered(FIRST))[0] == StopHoldMusic(MAIN)


def test_the_answer_bridges() -> None:
    """The ringing tone stops, then both legs are bridged."""
    story = dialing_call(BOB)
    story.take(LegCreated(FIRST), 10)
    story.take(LegRinging(FIRST), 10)
    assert story.take(LegAnswered(FIRST), 2_000) == (
        StopRinging(MAIN),
        AddToBridge(BRIDGE, (MAIN, FIRST)),
    )
    legs = [event.event for event in story.emitted[-3:]]
    assert legs == ["leg-initiated", "leg-ringing", "leg-answered"]
    assert story.call.status == "in-progress"


def test_the_nested_action_runs_when_the_party_hangs_up() -> None:
    """The nested action runs after the dialed leg ends; its webhook gets the duration."""
    story = bridged_call(BOB, action=HTTPS)
    commands = story.take(LegEnded(FIRST, NORMAL), 7_900)
    assert commands[:2] == (RemoveFromBridge(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert isinstance(commands[2], SendWebhook)
    assert dial_result(story) == {
        "status": "completed",
        "cause": 16,
        "duration": 8,
        "durationMs": 7_900,
        "number": BOB,
        "channelId": FIRST,
    }


def test_the_caller_hangs_up_first() -> None:
    """The main leg's end is the call's: the other leg is hung up and no action runs."""
    story = bridged_call(BOB, action=HTTPS)
    assert story.hang_up() == (DestroyBridge(BRIDGE), Hangup(FIRST, NORMAL))
    story.take(LegEnded(FIRST, NORMAL), 10)
    assert story.call.is_ended
    assert story.commands_of(SendWebhook) == []
    assert [event.event for event in story.emitted[-2:]] == ["leg-completed", "completed"]


def test_no_answer_in_time() -> None:
    """timeout: seconds for the dialed leg; then it is hung up and the action runs."""
    story = dialing_call(BOB, timeout=20, action=HTTPS)
    commands = story.pass_deadline()
    assert commands[:2] == (StopRinging(MAIN), Hangup(FIRST, NO_ANSWER))
    assert (dial_result(story)["status"], dial_result(story)["cause"]) == ("no-answer", NO_ANSWER)


def test_the_default_timeout_is_a_minute() -> None:
    """Without a timeout a dial rings 60 s."""
    story = dialing_call(BOB)
    assert story.state_as(Dialing).deadline_ms == story.now + 60_000
    assert story.take(LegCreated(FIRST)) == (Dial(FIRST, 60),)


@pytest.mark.parametrize(
    ("cause", "status"),
    [(BUSY, "busy"), (NO_ANSWER, "no-answer"), (REJECTED, "failed"), (LOST, "failed")],
)
def test_a_party_that_does_not_answer(cause: int, status: str) -> None:
    """The causes give the status (17 busy; 18, 19 no-answer); the next action runs."""
    story = dialing_call(BOB, action=HTTPS)
    assert story.take(LegEnded(FIRST, cause, 486), 500)[0] == StopRinging(MAIN)
    assert dial_result(story)["status"] == status
    ended = story.emitted[-1]
    assert (ended.event, ended.leg_status, ended.duration) == ("leg-completed", status, 0)
    assert ended.sip_code == 486


def test_an_answer_after_the_timeout() -> None:
    """A leg that answers too late is hung up again, and was answered: its carrier bills it."""
    story = dialing_call(BOB, timeout=20, action=say())
    story.pass_deadline()
    assert story.state == "playing"
    for event in (LegCreated(FIRST), LegRinging(FIRST), LegAnswered(FIRST)):
        assert story.take(event, 5) == (Hangup(FIRST, NORMAL),)
    story.take(LegEnded(FIRST, NO_ANSWER), 5)
    ended = story.emitted[-1]
    assert (ended.leg_status, ended.duration_ms, ended.ended_by) == ("completed", 5, "system")
    assert story.state == "playing"


def test_dials_follow_each_other() -> None:
    """A dial that fails may lead to another."""
    second = {"type": "dial", "data": {"number": EVE}}
    story = dialing_call(BOB, timeout=5, action=second)
    story.take(DeadlinePassed(), 5_000)
    assert story.state_as(Dialing).legs == (SECOND,)
    story.take(LegEnded(FIRST, NO_ANSWER))
    assert story.state_as(Dialing).legs == (SECOND,)


def test_a_dial_may_run_a_flow() -> None:
    """Dial with flowId runs a stored flow (the originate schema's second form)."""
    assert answered_call({"type": "dial", "data": {"flowId": "f"}}).state == "awaiting-instructions"
