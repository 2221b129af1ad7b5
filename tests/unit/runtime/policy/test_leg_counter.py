"""Which legs count as legs on the trunk, and which as dialled by their account."""

from typing import Any, get_args

import pytest
from msgspec.structs import replace

from engine.calls.model.call import Call, CallerKind, update_leg
from engine.calls.model.events import LegEnded
from engine.calls.model.leg import Leg
from engine.calls.reporting.ended_legs import archive_leg
from engine.runtime.policy.leg_counter import AccountLoad, LegCounter
from tests.harness.calls.builders import CHANNEL, MAIN, NOW, bridged_call
from tests.harness.calls.call_records import DIALED, inbound_conversation


def count(call: Call) -> LegCounter:
    counter = LegCounter()
    counter.update(call)
    return counter


def test_half_of_a_local_channel_is_no_call_over_the_trunk() -> None:
    """Its party's own leg counts in its own call."""
    call = bridged_call("+4722222222").call
    assert count(call).on_trunk == 2
    assert count(update_leg(call, MAIN, replaces="1700000000.9")).on_trunk == 1


def test_a_phone_that_calls_in_is_not_called_over_the_trunk() -> None:
    """The party of its leg is a caller id; an agent who is called by number counts."""
    story = inbound_conversation()
    own = count(story.call).on_trunk
    for kind in get_args(CallerKind):
        is_phone = kind in {"agent", "phone"}
        assert count(replace(story.call, caller_kind=kind)).on_trunk == own - is_phone
    assert count(update_leg(story.call, DIALED, agent_id="7")).on_trunk == own
    assert count(update_leg(bridged_call("+4722222222").call, MAIN, agent_id="7")).on_trunk == 2


def test_a_caller_is_not_dialled() -> None:
    """Its leg occupies the trunk, but the account has not dialled it."""
    call = inbound_conversation().call
    counter = count(call)
    assert (counter.on_trunk, counter.of(call.account).dialled) == (2, 1)


def test_a_leg_that_ends_is_used_time() -> None:
    """The time of a live leg grows; that of an ended one stays until its call is forgotten."""
    call = bridged_call("+4722222222").call
    counter = count(call)
    now = max(leg.answered_ms for leg in call.legs) + 60_000
    before = counter.of(call.account).used_ms(now)
    ended, _ = archive_leg(call, call.legs[-1], LegEnded(call.legs[-1].id, 16), now)
    counter.update(ended)
    load = counter.of(call.account)
    assert (load.dialled, load.used_ms(now)) == (1, before)
    assert load.used_ms(now + 1_000) == before + 1_000
    assert counter.by_account(now) == {call.account: (1, before, 1)}
    counter.remove(call.id)
    assert (counter.on_trunk, counter.of(call.account)) == (0, AccountLoad())
    assert counter.by_account(now) == {}


def test_calls_add_up() -> None:
    """A call is counted once, however often it is updated; each is forgotten alone."""
    call = bridged_call("+4722222222").call
    other = replace(call, id="0-pbx1-other", account="other")
    counter = count(call)
    for each in (call, other, other):
        counter.update(each)
    counter.remove(call.id)
    counter.remove(call.id)
    assert (counter.on_trunk, counter.of("other").dialled) == (2, 2)


@pytest.mark.parametrize(
    ("changed", "on_trunk", "dialled", "used_ms"),
    [
        ({}, 2, 1, 0),
        ({"answered_ms": NOW}, 2, 1, 1_000),
        ({"replaces": "1.9"}, 1, 0, 0),
        ({"agent_id": "7"}, 2, 1, 0),
        ({"party": "agent:7", "answered_ms": NOW}, 1, 1, 1_000),
    ],
)
def test_a_leg_that_changes_is_counted_again(
    changed: dict[str, Any], on_trunk: int, dialled: int, used_ms: int
) -> None:
    """In place of what it counted before."""
    call = replace(inbound_conversation().call, legs=())
    legs = (Leg(CHANNEL, "+4722222222", "up", NOW), Leg(DIALED, "+4711111111", "up", NOW))
    counter = count(replace(call, legs=legs))
    counter.update(update_leg(replace(call, legs=legs), DIALED, **changed))
    load = counter.of(call.account)
    assert (counter.on_trunk, load.dialled, load.used_ms(NOW + 1_000)) == (
        on_trunk, dialled, used_ms,
    )  # fmt: skip
