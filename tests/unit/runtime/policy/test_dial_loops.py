"""Circles of numbers whose routes dial each other are found after ten rounds."""

import pytest
from msgspec.structs import replace

from engine.calls.model.call import Call, update_leg
from engine.runtime.policy.dial_loops import MAX_ROUNDS
from engine.runtime.policy.leg_counter import LegCounter
from tests.harness.calls.call_records import DIALED, inbound_conversation

ONE, TWO, THREE = "+4721930001", "+4721930002", "+4721930003"
CALLER, OTHER_CALLER = "+4790000001", "+4790000002"
CALL = inbound_conversation().call


def call(number: str, dialled: str, caller: str = CALLER, region: str = "") -> Call:
    """Return a call to a number whose route dials another one."""
    made = replace(CALL, from_=caller, to=number, region=region)
    return update_leg(made, DIALED, party=dialled)


def counter_of(*calls: Call, times: int = MAX_ROUNDS) -> LegCounter:
    counter = LegCounter()
    for number, each in enumerate(each for each in calls for _ in range(times)):
        counter.update(replace(each, id=f"{each.id}{number}"))
    return counter


def test_a_number_that_dials_itself() -> None:
    """Each round is a call that dials the number again; ten are let through."""
    again = call(ONE, ONE)
    assert not counter_of(again, times=MAX_ROUNDS - 1).loops.closes_one(again)
    assert counter_of(again).loops.closes_one(again)


def test_a_circle_of_three_numbers() -> None:
    """Whichever of them is called next."""
    calls = call(ONE, TWO), call(TWO, THREE), call(THREE, ONE)
    loops = counter_of(*calls).loops
    assert [loops.closes_one(each) for each in calls] == [True] * 3
    assert not counter_of(*calls[:2]).loops.closes_one(calls[0])


def test_a_number_may_be_forwarded_to_another_one() -> None:
    """However many calls of one caller there are."""
    loops = counter_of(call(ONE, TWO), call(TWO, THREE)).loops
    for number in (ONE, TWO, THREE):
        assert not loops.closes_one(call(number, TWO))


def test_other_callers_are_not_cut() -> None:
    """A carrier may connect the number with a phone system: then its calls do not come back."""
    loops = counter_of(call(ONE, ONE)).loops
    assert not loops.closes_one(call(ONE, ONE, OTHER_CALLER))


@pytest.mark.parametrize("shown", [CALLER, ONE])
def test_a_circle_through_several_accounts(shown: str) -> None:
    """Also if each of them shows a number of its own: it is the same one in each round."""
    first = call(ONE, TWO)
    second = replace(call(TWO, ONE, caller=shown), account="other")
    loops = counter_of(first, second).loops
    assert loops.closes_one(first)
    assert loops.closes_one(second)


def test_a_phone_that_forwards_the_calls_of_its_agent() -> None:
    """A device that is registered as an agent calls the number that rings it."""
    rings = call(ONE, "agent:1001")
    forwarded = update_leg(rings, rings.main, agent_id="1001")
    loops = counter_of(forwarded).loops
    assert loops.closes_one(forwarded)
    another = replace(call(ONE, TWO), account="other")  # whose agent 1001 is somebody else
    by_another = update_leg(another, another.main, agent_id="1001")
    assert not counter_of(rings, by_another).loops.closes_one(rings)


@pytest.mark.parametrize("spelling", ["4721930001", "004721930001", "21930001"])
def test_a_number_is_the_same_in_any_spelling(spelling: str) -> None:
    """The route is stored as the carrier spells it, and dials the full number."""
    again = call(spelling, ONE, region="NO")
    assert counter_of(again).loops.closes_one(again)


def test_calls_that_have_ended_do_not_count() -> None:
    """Nor do outbound calls: they are not forwarded."""
    counter = counter_of(call(ONE, ONE))
    counter.remove(f"{CALL.id}0")
    assert not counter.loops.closes_one(call(ONE, ONE))
    outbound = replace(call(ONE, ONE), direction="outbound")
    assert not counter_of(outbound).loops.closes_one(call(ONE, ONE))
