"""How a dial and its conversation end: limits, hangups, failed bridges, recovery."""

from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, RemoveFromBridge
from engine.calls.model.events import BridgeFailed, LegAnswered, LegEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.requests import HangupRequested
from tests.harness.calls.builders import ID, MAIN, bridged_call, dialing_call, say
from tests.harness.calls.dials import BOB, BRIDGE, EVE, FIRST, SECOND


def test_a_time_limit_ends_the_conversation() -> None:
    """dial.data: timeLimit, in seconds; the party is hung up and the action runs."""
    story = bridged_call(data={"number": BOB, "timeLimit": 30}, action=say())
    began = story.now
    commands = story.pass_deadline()
    assert story.now == began + 30_000
    assert commands[:2] == (RemoveFromBridge(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert Hangup(FIRST, NORMAL) in commands
    assert isinstance(commands[-1], FetchMedia)


def test_without_a_time_limit_the_call_has_one() -> None:
    """The call's own time limit ends everything."""
    story = bridged_call(BOB)
    assert story.state_as(Bridged).deadline_ms == story.call.must_end_ms
    commands = story.pass_deadline()
    assert commands == (DestroyBridge(BRIDGE), Hangup(MAIN, NORMAL), Hangup(FIRST, NORMAL))
    assert story.call.reason == "longest_call"


def test_a_bridge_that_fails() -> None:
    """Each leg is tried alone; the dialed party is hung up, and the action runs."""
    story = bridged_call(BOB, action=say())
    alone = (AddToBridge(BRIDGE, (MAIN,)), AddToBridge(BRIDGE, (FIRST,)))
    assert story.take(BridgeFailed(BRIDGE, "no", (MAIN, FIRST))) == alone
    commands = story.take(BridgeFailed(BRIDGE, "no", (FIRST,)))
    assert commands[:2] == (RemoveFromBridge(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert Hangup(FIRST, NORMAL) in commands
    assert story.state == "playing"


def test_recovery_bridges_missing_legs() -> None:
    """Recovered lists who is in the bridge; the others are added to it."""
    story = bridged_call(BOB)
    assert story.take(Recovered(())) == (AddToBridge(BRIDGE, (MAIN, FIRST)),)
    assert story.take(Recovered(((MAIN, BRIDGE),))) == (AddToBridge(BRIDGE, (FIRST,)),)
    assert story.take(Recovered(((MAIN, BRIDGE), (FIRST, BRIDGE)))) == ()


def test_recovery_while_it_rings() -> None:
    """Ringing goes on; an answer during the outage is reported before."""
    story = dialing_call(BOB)
    before = story.call
    assert story.take(Recovered()) == ()
    assert story.call is before


def test_a_hangup_while_it_rings() -> None:
    """Every leg is hung up."""
    story = dialing_call(BOB, EVE)
    assert story.take(HangupRequested("api")) == tuple(
        Hangup(leg, NORMAL) for leg in (MAIN, FIRST, SECOND)
    )


def test_a_hangup_while_bridged() -> None:
    """The bridge is destroyed, too."""
    story = bridged_call(BOB)
    assert story.take(HangupRequested("api", 21))[0] == DestroyBridge(BRIDGE)
    for leg in (MAIN, FIRST):
        story.take(LegEnded(leg, NORMAL))
    assert (story.call.status, story.call.ended_by, story.call.cause) == ("completed", "api", 21)


def test_events_that_change_nothing() -> None:
    """An answer that is reported twice does not bridge twice; nor does another bridge's failure."""
    story = bridged_call(BOB)
    before = story.call
    assert story.take(LegAnswered(FIRST)) == ()
    assert story.take(BridgeFailed(f"{ID}.b99", "no", (MAIN,))) == ()
    assert story.call is before
