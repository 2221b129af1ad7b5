"""Recovery as ordinary events: the PBX snapshot against the stored call."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine.calls.model.commands import (
    Answer,
    Dial,
    Hangup,
    Originate,
    Snoop,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import (
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
    Recovered,
)
from engine.calls.model.requests import HangupRequested
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import legs_being_dialled, reconcile
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import (
    CHANNEL,
    ID,
    MAIN,
    NOW,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    inbound,
    outbound,
    say,
)
from tests.harness.calls.control import PEER, SNOOP, THIRD, coach, in_conference
from tests.harness.calls.recoveries import open_call, outbox, ringing

LEG = f"{ID}.l1"
BOB = "+4712345678"
LOST = LegEnded(MAIN, 0)


LEGS: list[tuple[str, Callable[[], Story], bool, str | None, object]] = [
    ("unsent", lambda: open_call(Story(outbound(say()))), True, None, None),
    ("ended", lambda: open_call(Story(outbound(say()))), False, None, LOST),
    ("created", lambda: open_call(Story(outbound(say()))), True, "Down", LegCreated(MAIN)),
    ("rang", lambda: open_call(Story(outbound(say()))), False, "Ringing", LegRinging(MAIN)),
    ("still rings", ringing, False, "Ringing", None),
    ("answered", ringing, False, "Up", LegAnswered(MAIN)),
    ("still up", answered_call, False, "Up", None),
    ("still placed", ringing, False, "Down", None),
    ("hung up", answered_call, False, None, LOST),
]


@pytest.mark.parametrize(
    ("_name", "make", "unsent", "shown", "event"), LEGS, ids=[each[0] for each in LEGS]
)
def test_a_leg_that_changed_during_an_outage(
    _name: str, make: Callable[[], Story], unsent: bool, shown: str | None, event: object
) -> None:
    """Created, ringing, answered or ended: the missed event, then Recovered."""
    story = make()
    seen = PbxSnapshot({} if shown is None else {MAIN: shown})
    box = outbox(story, Originate) if unsent else ()
    _, events = reconcile(story.call, box, seen, story.now)
    assert events == ((event, Recovered()) if event else (Recovered(),))


def test_an_unsent_originate_is_sent() -> None:
    """A pending command without an effect on the PBX is executed again."""
    story = open_call(Story(outbound()))
    box = outbox(story, Originate)
    assert reconcile(story.call, box, PbxSnapshot({}), story.now)[0] == box
    assert reconcile(story.call, box, PbxSnapshot({MAIN: "Down"}), story.now)[0] == ()


def test_a_leg_is_not_originated_twice() -> None:
    """Its party may have been called and have rejected: the leg is lost."""
    story = open_call(Story(outbound()))
    story.take(LegCreated(MAIN))
    box = outbox(story, Originate, Dial)
    redo, events = reconcile(story.call, box, PbxSnapshot({}), story.now)
    assert redo == ()
    assert events == (LOST, Recovered())


def test_an_undialled_party_is_called() -> None:
    """A leg that is down without a dial mark is dialled, with its full ring timeout."""
    story = open_call(Story(outbound()))
    story.take(LegCreated(MAIN))
    box = outbox(story, Originate, Dial)
    redo, events = reconcile(story.call, box, PbxSnapshot({MAIN: "Down"}), story.now)
    assert redo == (Dial(MAIN, 30),)
    story.now += 29_000
    for event in events:
        assert story.take(event) == ()
    assert deadline_ms(story.call) == story.now + 30_000


@pytest.mark.parametrize("state", ["Down", "Ringing", "Up"])
def test_no_party_is_called_twice(state: str) -> None:
    """A second dial of a leg that is down ends it (docs/asterisk.md), hence the mark."""
    story = open_call(Story(outbound()))
    story.take(LegCreated(MAIN))
    box = outbox(story, Dial)
    assert legs_being_dialled(box) == (MAIN,)
    seen = PbxSnapshot({MAIN: state}, dialed=frozenset({MAIN}))
    redo, events = reconcile(story.call, box, seen, story.now)
    assert redo == ()
    assert LegCreated(MAIN) not in events


def test_a_recording_that_is_to_be_stopped_is_not_started_again() -> None:
    """All may be done already: then its file would be overwritten; the last one is started."""
    story = ringing()
    stops = StopRecording(MAIN, "first")
    box = (StartRecording(MAIN, "first"), stops, StartRecording(MAIN, "second"))

    redo, _ = reconcile(story.call, box, PbxSnapshot({MAIN: "Up"}), story.now)

    assert redo == (stops, StartRecording(MAIN, "second"))


def test_an_originate_of_a_canceled_call_is_not_sent() -> None:
    """An ending call rings no phone: its unsent leg has ended."""
    story = open_call(Story(outbound()))
    story.take(HangupRequested("api"))
    box = outbox(story, Originate, Hangup)
    redo, events = reconcile(story.call, box, PbxSnapshot({}), story.now)
    assert redo == (Hangup(MAIN, 16),)
    assert events == (LOST, Recovered())


def test_an_originate_of_an_ended_dial_is_not_sent() -> None:
    """Nor does an ended dial."""
    story = dialing_call(BOB, action=say())
    box = outbox(story, Originate)
    story.pass_deadline()
    redo, events = reconcile(story.call, box, PbxSnapshot({MAIN: "Up"}), story.now)
    assert redo == ()
    assert LegEnded(LEG, 0) in events


@pytest.mark.parametrize(("state", "again"), [("Ring", True), ("Up", False), (None, False)])
def test_an_answer_is_sent_once(state: str | None, again: bool) -> None:
    """An inbound leg is answered unless it is up, or gone."""
    story = open_call(Story(inbound()))
    seen = PbxSnapshot({} if state is None else {CHANNEL: state})
    redo, _ = reconcile(story.call, outbox(story, Answer), seen, story.now)
    assert redo == ((Answer(CHANNEL),) if again else ())


def test_both_legs_may_have_ended() -> None:
    """A restarted node has no channels: every leg is lost and the call ends."""
    story = bridged_call(BOB)
    _, events = reconcile(story.call, (), PbxSnapshot({}), story.now)
    for event in events:
        story.take(event)
    assert story.call.is_ended
    last = story.emitted[-1]
    assert (last.reason, last.ended_by, last.call_status) == ("lost", "system", "completed")


def test_a_call_lost_before_its_answer_has_failed() -> None:
    """It is neither canceled nor busy, but lost."""
    story = open_call(Story(inbound(say())))
    story.take(LegEnded(CHANNEL, 0))
    last = story.emitted[-1]
    assert (last.reason, last.call_status, last.hangup_cause) == ("lost", "failed", 41)


@pytest.mark.parametrize(
    ("exists", "unsent", "event"),
    [
        (True, False, LegCreated(SNOOP)),
        (False, True, None),
        (False, False, LegEnded(SNOOP, 0)),
    ],
    ids=["created", "unsent", "ended"],
)
def test_a_snoop_that_was_requested_before_an_outage(
    exists: bool, unsent: bool, event: object
) -> None:
    """It is reported as created only if the PBX has it, and as ended if nothing will create it."""
    story = in_conference()
    story.take(coach(THIRD, PEER))
    channels = dict.fromkeys((MAIN, PEER, THIRD, *([SNOOP] if exists else [])), "Up")
    box = outbox(story, Snoop) if unsent else ()
    redo, events = reconcile(story.call, box, PbxSnapshot(channels), story.now)
    assert events == ((event, Recovered()) if event else (Recovered(),))
    assert redo == box


def test_when_a_lost_leg_was_last_seen() -> None:
    """The event says when an engine saw it for the last time."""
    story = answered_call(say())
    _, events = reconcile(story.call, (), PbxSnapshot({}, last_seen_ms=NOW), story.now)
    assert LegEnded(MAIN, 0, seen_ms=NOW) in events


def test_a_recovery_tells_who_has_the_call_now_and_how_long_none_had_it() -> None:
    """Without the time that an engine last saw it, that is not known."""
    story = answered_call()
    up = PbxSnapshot({MAIN: "Up"}, new_owner="pbx-7")
    assert reconcile(story.call, (), up, story.now)[1][-1] == Recovered(engine="pbx-7")
    seen = replace(up, last_seen_ms=story.now - 1_900)
    expected = Recovered(engine="pbx-7", uncontrolled_ms=1_900)
    assert reconcile(story.call, (), seen, story.now)[1][-1] == expected
