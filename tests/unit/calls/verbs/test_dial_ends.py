"""How a dial and its talk end: limits, hangups, bridges that fail, recoveries (spec, Verbs)."""

from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, RemoveFromBridge
from engine.calls.model.events import BridgeFailed, LegAnswered, LegEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.requests import HangupRequested
from engine.calls.model.state import Bridged
from tests.unit.calls.harness.builders import (
    ID,
    LONGEST_MS,
    MAIN,
    NOW,
    bridged_call,
    dialing_call,
    say,
)
from tests.unit.calls.harness.dials import BOB, BRIDGE, EVE, FIRST, SECOND


def test_a_time_limit_ends_the_talk() -> None:
    """dial.data: timeLimit, in seconds; the party is hung up and the action runs."""
    story = bridged_call(data={"number": BOB, "timeLimit": 30}, action=say())
    began = story.now
    commands = story.pass_deadline()
    assert story.now == began + 30_000
    assert commands[:2] == (RemoveFromBridge(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert Hangup(FIRST, NORMAL) in commands
    assert isinstance(commands[-1], FetchMedia)


def test_without_a_time_limit_the_call_has_one() -> None:
    """No call lives longer than the longest; then everything ends."""
    story = bridged_call(BOB)
    assert story.state_as(Bridged).deadline_ms == NOW + LONGEST_MS
    commands = story.pass_deadline()
    assert commands == (DestroyBridge(BRIDGE), Hangup(MAIN, NORMAL), Hangup(FIRST, NORMAL))
    assert story.call.reason == "longest_call"


def test_a_bridge_that_cannot_be_made() -> None:
    """Both parties are let go: the dialled one is hung up, the action runs."""
    story = bridged_call(BOB, action=say())
    commands = story.take(BridgeFailed(BRIDGE, "no", (MAIN, FIRST)))
    assert commands[:2] == (RemoveFromBridge(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert Hangup(FIRST, NORMAL) in commands
    assert story.state == "playing"


def test_an_earlier_bridge_is_not_this_one() -> None:
    """What is told of another bridge changes nothing."""
    story = bridged_call(BOB)
    before = story.call
    assert story.take(BridgeFailed(f"{ID}.b99", "no", (MAIN,))) == ()
    assert story.call is before


def test_a_recovery_joins_whoever_is_missing() -> None:
    """Recovered names who is in the bridge; the others are joined, again or at last."""
    story = bridged_call(BOB)
    assert story.take(Recovered(())) == (AddToBridge(BRIDGE, (MAIN, FIRST)),)
    assert story.take(Recovered(((MAIN, BRIDGE),))) == (AddToBridge(BRIDGE, (FIRST,)),)
    assert story.take(Recovered(((MAIN, BRIDGE), (FIRST, BRIDGE)))) == ()


def test_a_recovery_while_it_rings() -> None:
    """Ringing goes on; who answered meanwhile has been told before."""
    story = dialing_call(BOB)
    before = story.call
    assert story.take(Recovered()) == ()
    assert story.call is before


def test_a_hangup_while_it_rings() -> None:
    """Hangup during anything: every leg is told."""
    story = dialing_call(BOB, EVE)
    assert story.take(HangupRequested("api")) == tuple(
        Hangup(leg, NORMAL) for leg in (MAIN, FIRST, SECOND)
    )


def test_a_hangup_while_they_talk() -> None:
    """The bridge is taken down too."""
    story = bridged_call(BOB)
    assert story.take(HangupRequested("api", 21))[0] == DestroyBridge(BRIDGE)
    for leg in (MAIN, FIRST):
        story.take(LegEnded(leg, NORMAL))
    assert (story.call.status, story.call.ended_by, story.call.cause) == ("completed", "api", 21)


def test_events_of_a_talk_that_change_nothing() -> None:
    """An answer heard twice is not a second call."""
    story = bridged_call(BOB)
    before = story.call
    assert story.take(LegAnswered(FIRST)) == ()
    assert story.call is before
