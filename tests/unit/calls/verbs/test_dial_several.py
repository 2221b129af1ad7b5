"""dial to several parties at once: the first to answer wins; otherwise one cause is reported."""

import pytest

from engine.calls.model.call import originate
from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import (
    ANSWERED_ELSEWHERE,
    BUSY,
    LOST,
    NO_ANSWER,
    NORMAL,
    TEMPORARY_FAILURE,
)
from engine.calls.model.commands import AddToBridge, Hangup, Originate, StopRinging
from engine.calls.model.events import LegAnswered, LegEnded
from tests.harness.calls.builders import HTTPS, ID, MAIN, answered_call, dialing_call, inbound
from tests.harness.calls.dials import BOB, EVE, FIRST, SECOND, dial_result


def test_simultaneous_ring() -> None:
    """Number may be a list: the first to answer wins, the others show no missed call."""
    story = dialing_call(BOB, EVE, action=HTTPS)
    assert [each.leg for each in story.commands_of(Originate)[1:]] == [FIRST, SECOND]
    commands = story.take(LegAnswered(SECOND), 2_000)
    assert commands == (
        StopRinging(MAIN),
        AddToBridge(f"{ID}.b3", (MAIN, SECOND)),
        Hangup(FIRST, ANSWERED_ELSEWHERE),
    )
    story.take(LegEnded(FIRST, ANSWERED_ELSEWHERE), 20)
    assert story.emitted[-1].leg_status == "canceled"
    story.take(LegEnded(SECOND, NORMAL), 1_000)
    assert dial_result(story)["number"] == EVE


def test_a_list_may_contain_agents_and_sip_addresses() -> None:
    """Each party is called as what it is; an agent's leg and result name the agent."""
    story = dialing_call(BOB, "agent:1001", "sip:eve@example.com", action=HTTPS)
    called = story.commands_of(Originate)[1:]
    assert [each.party for each in called] == [BOB, "agent:1001", "sip:eve@example.com"]
    assert [leg.agent_id for leg in story.call.legs[1:]] == [None, "1001", None]
    story.take(LegAnswered(SECOND))
    story.take(LegEnded(SECOND, NORMAL), 1_000)
    result = dial_result(story)
    assert (result["number"], result["agent_id"]) == ("agent:1001", "1001")


def test_two_answers_at_once() -> None:
    """The second to answer is hung up."""
    story = dialing_call(BOB, EVE)
    story.take(LegAnswered(SECOND))
    assert story.take(LegAnswered(FIRST)) == (Hangup(FIRST, NORMAL),)
    assert story.state_as(Bridged).leg == SECOND


def test_two_spellings_of_a_number_are_one_number() -> None:
    """It is called once, and named in events and the result as lists store it."""
    numbers = ["+370861234567", "00370861234567", "21930000", "+4721930000", "112"]
    dial = {"type": "dial", "data": {"number": numbers}, "action": HTTPS}
    story = answered_call(dial, region="NO")
    found = [each.party for each in story.commands_of(Originate)[1:]]
    assert found == ["+37061234567", "+4721930000", "112"]
    assert story.emitted[-1].party == "112"
    assert [leg.party for leg in story.call.legs[1:]] == found
    for leg in story.call.legs[1:]:
        story.take(LegEnded(leg.id, BUSY), 20)
    assert dial_result(story)["number"] == "+37061234567"


@pytest.mark.parametrize("caller_id", ["+370861234567", "00370861234567", "861234567"])
def test_a_withheld_number_is_withheld_in_each_spelling(caller_id: str) -> None:
    """Also if the tree names it as the caller id that is shown."""
    call = inbound(privacy=True, region="LT", caller_id="+37061234567")
    assert originate(call, "l1", BOB, caller_id).withheld
    assert not originate(call, "l1", BOB, "+4721930000").withheld


def test_a_number_twice_is_called_once() -> None:
    """Duplicates in a list are called once."""
    story = dialing_call(BOB, EVE, BOB)
    assert [each.party for each in story.commands_of(Originate)[1:]] == [BOB, EVE]


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (BUSY, NORMAL, "busy"),
        (NORMAL, BUSY, "busy"),
        (NO_ANSWER, BUSY, "busy"),
        (NORMAL, NO_ANSWER, "no-answer"),
        (NORMAL, LOST, "failed"),
        (TEMPORARY_FAILURE, TEMPORARY_FAILURE, "failed"),  # numbers that cannot be called
    ],
)
def test_several_without_an_answer(first: int, second: int, status: str) -> None:
    """The most informative cause is reported: busy, then no answer."""
    story = dialing_call(BOB, EVE, action=HTTPS)
    assert story.take(LegEnded(FIRST, first)) == ()
    story.take(LegEnded(SECOND, second))
    assert dial_result(story)["status"] == status
