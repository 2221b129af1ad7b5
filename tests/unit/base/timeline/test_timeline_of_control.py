"""Rows of control requests and sessions."""

from typing import Any

import pytest

from base.timeline.timers import Moment
from tests.harness.cli.inbound import read_call
from tests.harness.timelines import timeline_of
from tests.unit.base.timeline.stories import OPENED, Step, bridged, joins, states, story, words

ENDED = {"type": "leg-ended", "cause": 16}
SNOOPS = {"type": "snoop", "snoop": "b1.s1", "leg": "l1"}
QUIET: dict[str, Any] = {"type": "Novelty"}


def then(*commands: dict[str, Any], event: dict[str, Any] = QUIET) -> Step:
    """Return an entry of a bridged call."""
    return event, list(commands), "bridged"


TALK: Step = then(joins("l0", "l1"))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"type": "leg-hangup-requested", "leg": "l0"}, "request: hang up A"),
        (
            {"type": "mute-requested", "leg": "l0", "direction": "out"},
            "request: mute A (outbound)",
        ),
        ({"type": "hold-requested", "leg": "l0", "held": False}, "request: unhold A"),
        ({"type": "dial-requested", "party": "+1"}, "request: dial +1"),
        ({"type": "recording-requested", "wanted": "pause"}, "request: pause recording"),
        (
            {"type": "add-member-requested", "party": "+1", "by": ""},
            "request: add +1 to the conference",
        ),
        (
            {"type": "kick-requested", "leg": "l0", "by": "ada", "is_leave": False},
            "request by ada: kick A",
        ),
        (
            {"type": "refer-received", "leg": "l0", "party": "", "replaces": False},
            "REFER: transfer the other party to an invalid target",
        ),
        ({"type": "talk-started", "leg": "l0"}, "sound starts"),
        ({"type": "digit-started", "leg": "l0", "pressed_ms": 1}, "holds a key down"),
        ({"type": "recordings-archived", "fault": "lost"}, "recording lost"),
        (
            {"type": "recordings-archived", "fault": "timeout"},
            "recording not archived yet: timeout",
        ),
    ],
)
def test_what_is_requested_is_shown(event: dict[str, Any], expected: str) -> None:
    """Each request is a row with the requesting agent, if known, and the legs' letters."""
    assert words(story(OPENED, then(event=event)))[-1] == expected


def test_who_is_where_is_shown() -> None:
    """Who joins, who is removed, and who remains."""
    out = {"type": "remove-from-bridge", "bridge": "b1"}
    result = story(
        OPENED, TALK, then(joins("l2")), then(out | {"leg": "l0"}), then(out | {"leg": "l1"})
    )
    assert words(result)[1:] == [
        "bridged: A and B",
        "bridged: A, B and C (C joined)",
        "removed from bridge: B and C remain",
        "removed from bridge: C remains alone",
    ]
    assert bridged(result)[1:] == [{"l0", "l1"}, {"l0", "l1", "l2"}, {"l1", "l2"}, set()]


def test_a_recovery_shows_who_is_where() -> None:
    """After it, lifelines are as the engine found the legs."""
    found = {"type": "recovered", "bridged": [["l0", "b1"], ["l1", "b1"]]}
    assert bridged(story(OPENED, then(event=found)))[-1] == {"l0", "l1"}
    lost = {"type": "bridge-failed", "bridge": "b1", "reason": "x", "legs": ["l1"]}
    assert bridged(story(OPENED, TALK, then(event=lost)))[-1] == set()


def test_a_coach_is_heard_by_one() -> None:
    """The snoop has a lifeline of its own, which ends once, however it ends."""
    coaching = joins("l0", "b1.s1", bridge="b1.s1b")
    hangs_up = {"type": "hangup", "leg": "b1.s1", "cause": 16}
    gone = ENDED | {"leg": "b1.s1"}
    result = story(OPENED, TALK, then(SNOOPS), then(coaching), then(hangs_up), then(event=gone))
    assert words(result)[2:] == [
        "snoops on B",
        "coaching: only B hears A",
        "snoop ended",
    ]
    assert [(lifeline.heading, lifeline.label) for lifeline in result.lifelines][3] == (
        "C",
        "snoop on B",
    )
    assert words(story(OPENED, TALK, then(SNOOPS), then(event=gone)))[-1] == "snoop ended"


def test_a_fork_is_no_coaching() -> None:
    """Its snoop listens for a bot, and nobody hears it."""
    listens = {"type": "listen", "snoop": "b1.s1", "leg": "l1", "track": "both"}
    forked = joins("b1.s1", "b1.w1", bridge="b1.s1b")
    destroyed = {"type": "destroy-bridge", "bridge": "b1.s1b"}
    result = story(OPENED, TALK, then(listens), then(forked), then(destroyed))
    assert words(result)[2:] == ["listens to B", "forked: a bot hears B", "bridge destroyed"]


def test_a_transfer_shows_its_way() -> None:
    """State after state, with the reason; its mode at first and when it becomes another."""
    result = story(
        OPENED,
        then(states("transfer", "starting", mode="attended", party="+1")),
        then(states("transfer", "ringback", mode="attended")),
        then(states("transfer", "ringback", mode="blind")),
        then(states("transfer", "failed", mode="blind", reason="target_busy")),
    )
    assert words(result)[1:] == [
        "transfer to +1: starting (attended)",
        "transfer: starting → ringback",
        "transfer: ringback → ringback (blind)",
        "transfer: ringback → failed: target_busy",
    ]
    assert result.rows[-1].kind == "failure"


def test_a_leg_that_joins_another_call() -> None:
    """It is half of a Local channel."""
    place = ["b1.l0", "switchroom-1", "acme", ""]
    joins_call = {"type": "originate", "leg": "l4", "party": "+1", "replaces": place}
    assert words(story(OPENED, then(joins_call)))[-1] == "joins another call in place of a leg"


def test_other_events_are_passed_over() -> None:
    """Changes of legs are shown by the commands that made them."""
    assert words(story(OPENED, then({"type": "emit-event", "event": {"event": "leg-held"}}))) == [
        "calls +1555"
    ]


def test_music_of_ones_own_is_no_prompt() -> None:
    """It starts and ends on the waiting leg; a stopped prompt is shown as before."""
    plays = {"type": "play", "leg": "l0", "playback": "p1", "clips": [["k", 9]], "offset_ms": 0}
    stops = {"type": "stop-playback", "playback": "p1"}
    assert words(story(OPENED, then(plays), then(stops)))[1:] == [
        "♪ custom hold music",
        "♪ music ends",
    ]
    assert words(story(OPENED, then(stops)))[1:] == ["prompt stopped"]


def test_legs_that_nothing_introduced_have_lifelines() -> None:
    """A log that lost its beginning is drawn all the same."""
    found = story(then(event=ENDED | {"leg": "l7"})).lifelines
    assert [each.heading for each in found] == ["engine", "A"]


def test_what_comes_after_the_end_is_shown_after_it() -> None:
    """A recording is archived after its call ended."""
    found = read_call()
    filed = {"type": "recordings-archived", "request": "r9", "duration_ms": 6300}
    late = Moment(found.call.ended_ms + 15, filed, (), "ended")
    assert words(timeline_of(found.call, (*found.moments, late)))[-2:] == [
        "call ended: completed",
        "recording archived: 6.3 s",
    ]


@pytest.mark.parametrize(
    ("state", "answered", "expected"),
    [
        ("dialing", False, "ring timeout"),
        ("dialing", True, "timeout"),
        ("bridged", True, "call duration limit reached"),
        ("bridged", False, "timeout"),
    ],
)
def test_a_deadline_is_shown_where_it_is_certain(state: str, answered: bool, expected: str) -> None:
    """The timeout may belong to a ringing or a screened leg."""
    rang = {"type": "leg-answered" if answered else "leg-ringing", "leg": "l0"}
    assert (
        words(story(OPENED, (rang, [], state), ({"type": "deadline-passed"}, [], "ending")))[-1]
        == expected
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ({"type": "start-recording", "leg": "l0"}, "time to restart the recording"),
        ({"type": "snoop", "snoop": "b1.s1", "leg": "l0"}, "time to restart the coach's audio"),
        ({"type": "listen", "snoop": "b1.s1", "leg": "l0"}, "time to restart the audio of a fork"),
        (
            {"type": "hangup", "leg": "l0", "cause": 16, "is_repeated": True},
            "no response to a hangup, which is repeated",
        ),
        ({"type": "hangup", "leg": "l0", "cause": 16}, "call duration limit reached"),
        ({"type": "novelty"}, "call duration limit reached"),
    ],
)
def test_a_timer_is_named_by_what_it_causes(command: dict[str, Any], expected: str) -> None:
    """A conversation that goes on has other timers than its longest duration."""
    deadline = {"type": "deadline-passed"}
    answered = {"type": "leg-answered", "leg": "l0"}
    found = words(story(OPENED, (answered, [], "bridged"), then(command, event=deadline)))
    assert expected in found[2:]


def test_a_timer_without_effect_has_no_name() -> None:
    """At the end of a conversation's longest duration somebody is hung up."""
    answered = {"type": "leg-answered", "leg": "l0"}
    found = story(OPENED, (answered, [], "bridged"), then(event={"type": "deadline-passed"}))
    assert words(found)[-1] == "timeout"
