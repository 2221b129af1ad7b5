"""The times of a call and its legs: conversation, holds, waits, and the end that was seen."""

import pytest

from engine.calls.model import causes
from engine.calls.model.events import LegEnded, LegHeldByPhone, LegResumedByPhone
from tests.harness.calls import control
from tests.harness.calls.builders import CHANNEL, MAIN, NOW, answered_call, say
from tests.harness.calls.call_records import (
    DIALED,
    answered_inbound_call,
    completed,
    inbound_conversation,
    record,
)
from tests.harness.record_checks import record_faults


def test_talk_time() -> None:
    """Only the time in which two parties are bridged counts; menus, ringing and holds do not."""
    story = inbound_conversation(say())
    story.take(control.hold(CHANNEL), 10_000)
    story.take(control.unhold(CHANNEL), 5_000)
    story.take(LegEnded(DIALED, causes.NORMAL), 20_000)
    story.take(LegEnded(CHANNEL, causes.NORMAL), 3_000)
    cdr = record(story)
    assert (cdr.ring_ms, cdr.talk_ms, cdr.hold_ms, cdr.wait_ms) == (10, 30_000, 5_000, 5_010)
    caller, bob = cdr.legs
    assert (caller.talk_ms, caller.hold_ms, caller.wait_ms) == (30_000, 5_000, 5_010)
    assert (bob.talk_ms, bob.hold_ms, bob.wait_ms) == (30_000, 0, 5_000)


def test_a_caller_who_only_heard_ringing_did_not_talk() -> None:
    """The engine answered the caller, and no called party answered."""
    story = answered_inbound_call({"type": "dial", "data": {"number": control.BOB}})
    story.take(LegEnded(CHANNEL, causes.NORMAL), 6_000)
    assert (record(story).talk_ms, record(story).wait_ms) == (0, 6_010)


@pytest.mark.parametrize(("ms", "seconds"), [(0, 0), (1, 1), (900, 1), (1_000, 1), (59_999, 60)])
def test_seconds_are_rounded_up(ms: int, seconds: int) -> None:
    """The exact duration is beside them, in the event, the leg's event and the record."""
    story = answered_call({"type": "gather", "data": {}})
    story.take(LegEnded(MAIN, causes.NORMAL), ms)
    end = completed(story)
    assert (end.duration_ms, end.duration) == (ms, seconds)
    cdr = record(story)
    assert (cdr.answered_duration_ms, cdr.answered_duration) == (ms, seconds)
    assert (cdr.legs[0].answered_duration_ms, cdr.legs[0].answered_duration) == (ms, seconds)


def test_legs_that_ended_unnoticed() -> None:
    """Times end when an engine last saw the legs; the time without an engine is separate."""
    story = inbound_conversation()
    seen_ms = story.now + 30_000
    day_ms = 86_400_000
    story.take(LegEnded(CHANNEL, causes.LOST, seen_ms=seen_ms), 3 * day_ms)
    for leg in story.call.legs:
        story.take(LegEnded(leg.id, causes.LOST, seen_ms=seen_ms))
    end = story.emitted[-1]
    assert (end.reason, end.ended_by) == ("lost", "system")
    assert end.duration_ms == seen_ms - (NOW + 10)
    assert not list(record_faults(story.emitted))
    cdr = record(story)
    assert (cdr.ended_ms, cdr.unseen_ms, cdr.talk_ms) == (seen_ms, 3 * day_ms - 30_000, 30_000)
    assert {leg.ended_ms for leg in cdr.legs} == {seen_ms}
    assert {leg.unseen_ms for leg in story.call.ended_legs} == {3 * day_ms - 30_000}


def test_a_conversation_begins_when_the_engine_starts_it() -> None:
    """Not when an engine last saw the target of a transfer, which ended in an outage."""
    story = control.transferring("ringback")
    talked_ms = story.call.talk_ms
    story.take(LegEnded(control.TARGET, causes.LOST, seen_ms=story.now + 500), 4_000)
    story.take(LegEnded(control.PEER, causes.NORMAL), 1_000)
    assert story.call.talk_ms == talked_ms + 1_000


def test_two_legs_of_a_consultation_that_were_lost_together() -> None:
    """The end of the first completes the transfer; that says nothing of the other one."""
    story = control.transferring("answered")
    seen_ms = story.now + 500
    story.take(LegEnded(control.PEER, causes.LOST, seen_ms=seen_ms), 30_000)
    story.take(LegEnded(control.TARGET, causes.LOST, seen_ms=seen_ms), 2)
    story.take(LegEnded(MAIN, causes.NORMAL), 1_000)
    assert not list(record_faults(story.emitted))
    assert {leg.ended_ms for leg in record(story).legs if leg.channel_id != MAIN} == {seen_ms}
    assert record(story).talk_ms == 10_000 + 500  # before the consultation, and in it


def test_a_leg_is_not_seen_before_it_was_answered() -> None:
    """The last time that is known of a leg counts."""
    story = answered_call({"type": "gather", "data": {}})
    answered_ms = story.now
    story.take(LegEnded(MAIN, causes.LOST, seen_ms=NOW - 1_000), 60_000)
    assert record(story).legs[0].ended_ms == answered_ms


def test_a_leg_is_not_seen_before_its_conversation() -> None:
    """Also not if the store's clock, from which that time is taken, was set back."""
    story = inbound_conversation()
    began_ms = story.now
    story.take(LegEnded(CHANNEL, causes.LOST, seen_ms=NOW - 120_000), 60_000)
    assert record(story).legs[0].ended_ms == began_ms


def test_a_leg_is_not_seen_before_the_end_of_its_conversation() -> None:
    """The time that it held and talked is part of its duration."""
    story = inbound_conversation({"type": "gather", "data": {}})
    story.take(LegHeldByPhone(CHANNEL), 1_000)
    story.take(LegResumedByPhone(CHANNEL), 2_000)
    story.take(LegEnded(DIALED, causes.NORMAL), 4_000)
    story.take(LegEnded(CHANNEL, causes.LOST, seen_ms=NOW - 120_000), 60_000)
    caller = record(story).legs[0]
    assert (caller.channel_id, caller.hold_ms, caller.talk_ms) == (CHANNEL, 2_000, 5_000)


def test_a_leg_is_not_seen_before_the_end_of_its_hold() -> None:
    """Also not if the store's clock was set back; both legs hold at times."""
    story = inbound_conversation()
    story.take(LegHeldByPhone(DIALED), 1_000)
    story.take(LegHeldByPhone(CHANNEL), 3_000)
    story.take(LegResumedByPhone(CHANNEL), 2_000)
    resumed_ms = story.now
    story.take(LegEnded(CHANNEL, causes.LOST, seen_ms=NOW - 120_000), 60_000)
    assert record(story).legs[0].ended_ms == resumed_ms


def test_no_talk_is_counted_beyond_the_present() -> None:
    """Not even if the store's clock, from which the time of a lost leg is taken, was set ahead."""
    story = inbound_conversation({"type": "gather", "data": {}})
    began_ms = story.now
    story.take(LegEnded(DIALED, causes.LOST, seen_ms=began_ms + 3_600_000), 2_000)
    assert story.call.talk_ms == story.now - began_ms


def test_a_leg_is_seen_while_the_other_one_holds() -> None:
    """Its end would have been reported before; so no leg is on hold for longer than its call."""
    story = inbound_conversation()
    story.take(LegHeldByPhone(DIALED), 1_000)
    story.take(LegHeldByPhone(CHANNEL), 3_000)
    story.take(LegResumedByPhone(DIALED), 1_000)
    resumed_ms = story.now
    for leg in story.call.legs:
        story.take(LegEnded(leg.id, causes.LOST, seen_ms=resumed_ms - 500), 2_000)
    assert not list(record_faults(story.emitted))
    assert record(story).hold_ms == 4_000


def test_a_lost_leg_was_there_when_another_one_held() -> None:
    """Also if that one is taken as ended before it."""
    story = control.in_conference()
    for leg in (MAIN, control.PEER, control.THIRD):
        story.take(LegHeldByPhone(leg), 1_000)
    seen_ms = story.now - 5_000
    for leg in (MAIN, control.THIRD, control.PEER):
        story.take(LegEnded(leg, causes.LOST, seen_ms=seen_ms), 2_000)
    assert not list(record_faults(story.emitted))
    assert record(story).hold_ms == 2_000


def test_a_leg_that_ended_unnoticed_before_another() -> None:
    """The call ended with the one that was seen last; it was noticed later that none was left."""
    story = inbound_conversation(say())
    seen_ms = story.now + 10_000
    story.take(LegEnded(DIALED, causes.NORMAL), 40_000)
    ended_ms = story.now
    story.take(LegEnded(CHANNEL, causes.LOST, seen_ms=seen_ms), 20_000)
    cdr = record(story)
    assert (cdr.ended_ms, cdr.unseen_ms) == (ended_ms, 20_000)


def test_only_called_legs_have_a_parent() -> None:
    """An event of the caller's leg belongs to its call."""
    story = inbound_conversation()
    story.take(LegHeldByPhone(CHANNEL), 1_000)
    assert story.emitted[-1].parent_call_id is None
    story.take(LegHeldByPhone(DIALED), 1_000)
    assert story.emitted[-1].parent_call_id == story.call.id
