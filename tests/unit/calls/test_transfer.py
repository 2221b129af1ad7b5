"""Attended transfer: the source asks a target, then leaves the customer with it (design 7)."""

import pytest

from engine.calls.causes import NORMAL
from engine.calls.commands import (
    Bridge,
    Hangup,
    Leave,
    Originate,
    Ring,
    StartMusic,
    StartRinging,
    StopMusic,
    StopRinging,
)
from engine.calls.doing import Talking
from engine.calls.errands import AskWebhook
from engine.calls.events import LegAnswered, LegEnded, LegPlaced, LegRang
from engine.calls.seating import Seat
from tests.unit.calls.building import HTTPS, MAIN, say, talking
from tests.unit.calls.steering import (
    BOB,
    BRIDGE,
    CAROL,
    PEER,
    SESSION,
    TARGET,
    THIRD,
    came,
    complete,
    conferences_told,
    conferring,
    hold,
    seat,
    sessions_told,
    swapped,
    together,
    transfer,
    transfer_to,
    transferring,
)


def test_the_target_is_called() -> None:
    """Both leave the bridge: the customer hears music, the source hears ringing."""
    story = talking(BOB)
    assert story.take(transfer_to(), 1_000) == (
        Leave(BRIDGE, MAIN),
        Leave(BRIDGE, PEER),
        StartMusic(MAIN),
        StartRinging(PEER),
        Originate(TARGET, CAROL, "+4799"),
    )
    assert (transfer(story).id, transfer(story).state) == (SESSION, "starting")


def test_what_is_told_of_a_transfer() -> None:
    """Session, state, mode, party, the target's channel and the source's agent."""
    told = transferring().told
    event = next(each for each in told if each.event == "transfer")
    assert (event.session_id, event.session_state, event.mode) == (SESSION, "starting", "attended")
    assert (event.party, event.channel_id, event.agent_id) == (CAROL, TARGET, "7")
    assert event.reason is None


def test_it_rings_only_as_long_as_asked() -> None:
    """The target's time to ring is the transfer's own."""
    story = transferring(ring_s=12)
    assert story.take(LegPlaced(TARGET), 300) == (Ring(TARGET, 12),)
    rang = story.now
    story.due()
    assert story.now == rang + 12_000
    assert transfer(story).state == "failed"


def test_the_target_rings() -> None:
    """Ringing is told once; nobody moves."""
    story = transferring()
    story.take(LegPlaced(TARGET))
    assert story.take(LegRang(TARGET), 400) == ()
    assert story.take(LegRang(TARGET), 400) == ()
    assert sessions_told(story) == [("starting", None), ("ringback", None)]


def test_the_target_answers() -> None:
    """Source and target talk; the customer still hears music."""
    story = transferring("ringback")
    assert story.take(LegAnswered(TARGET), 2_000) == (
        StopRinging(PEER),
        Bridge(BRIDGE, (PEER, TARGET)),
    )
    assert transfer(story).state == "answered"
    assert seat(story, MAIN) == Seat(sound="music")


def test_an_answer_without_ringing() -> None:
    """Some phones answer at once."""
    story = transferring()
    story.take(LegPlaced(TARGET))
    story.take(LegAnswered(TARGET))
    assert transfer(story).state == "answered"


def test_an_answer_heard_twice() -> None:
    """The second changes nothing and is not told."""
    story = transferring("answered")
    before = story.call
    assert story.take(LegAnswered(TARGET)) == ()
    assert story.call is before


def test_the_source_completes() -> None:
    """The customer joins the target; the source is hung up, and told to have left."""
    story = transferring("answered")
    assert story.take(complete(), 5_000) == (
        StopMusic(MAIN),
        Bridge(BRIDGE, (MAIN,)),
        Hangup(PEER, NORMAL),
    )
    ended = transfer(story)
    assert (ended.state, ended.reason, ended.ended_by) == ("completed", "manual_complete", "7")
    assert ended.ended_ms == story.now
    assert story.take(LegEnded(PEER, NORMAL), 50) == ()
    assert together(story) == {MAIN, TARGET}


def test_the_source_hangs_up_to_complete() -> None:
    """Its hangup says the same."""
    story = transferring("answered")
    assert story.take(LegEnded(PEER, NORMAL)) == (StopMusic(MAIN), Bridge(BRIDGE, (MAIN,)))
    assert sessions_told(story)[-1] == ("completed", "source_hangup_intentional")


def test_the_target_hangs_up_after_all() -> None:
    """The tree goes on with the customer, after the dial."""
    story = transferring("answered", action=HTTPS)
    story.take(complete(), 5_000)
    story.take(LegEnded(PEER, NORMAL), 50)
    commands = story.take(LegEnded(TARGET, NORMAL), 8_000)
    assert commands[0] == Leave(BRIDGE, MAIN)
    assert isinstance(commands[-1], AskWebhook)


def test_the_main_leg_hands_its_party_over() -> None:
    """The source was the main leg: now the customer's is, and the tree runs on it."""
    story = swapped("answered", action=say())
    story.take(complete(), 5_000)
    assert story.call.main == PEER
    assert story.take(LegEnded(MAIN, NORMAL), 50) == ()
    assert together(story) == {PEER, TARGET}
    story.take(LegEnded(TARGET, NORMAL), 5_000)
    assert story.state == "Playing"


def test_the_main_leg_hangs_up_to_hand_over() -> None:
    """The main leg's end is not the call's when it was a transfer's source."""
    story = swapped("answered")
    story.take(LegEnded(MAIN, NORMAL))
    assert (story.call.main, story.state) == (PEER, "Talking")
    assert story.told[-1].event == "leg-completed"


@pytest.mark.parametrize("state", ["starting", "ringback"])
@pytest.mark.parametrize("by_hangup", [True, False])
def test_completed_while_it_rings(state: str, by_hangup: bool) -> None:
    """It becomes a blind one: the customer waits with music, and talks to who answers."""
    story = transferring("ringback" if state == "ringback" else "starting")
    commands = story.take(LegEnded(PEER, NORMAL) if by_hangup else complete(), 1_000)
    assert commands == (() if by_hangup else (Hangup(PEER, NORMAL),))
    assert (transfer(story).state, transfer(story).mode) == (state, "blind")
    assert story.doing(Talking).legs == (TARGET,)
    came(story, TARGET, "answered")
    assert transfer(story).state == "blind_transferred"
    assert together(story) == {MAIN, TARGET}


def test_a_hold_ends_with_what_it_was_for() -> None:
    """Who was held when the source goes is free, and told so: nobody else could do it."""
    story = talking(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to())
    came(story, TARGET, "answered")
    story.take(hold(TARGET))
    story.take(complete())
    assert together(story) == {MAIN, TARGET}
    free = [each.channel_id for each in story.told if each.event == "leg-unheld"]
    assert free == [MAIN, TARGET]


def test_the_target_is_told_whom_it_talks_for() -> None:
    """A target's name is kept for the records."""
    assert transfer(transferring(target_name="Carol")).target_name == "Carol"


def test_a_conference_of_two_ends_with_it() -> None:
    """Nobody else is left in it: it is a conversation of two, and its transfer is one."""
    story = conferring()
    story.take(LegEnded(THIRD, NORMAL))
    commands = story.take(transfer_to("+4755555555"))
    assert conferences_told(story)[-1] == ("completed", "transfer")
    assert (transfer(story).state, story.call.conference) == ("starting", None)
    assert {Leave(BRIDGE, MAIN), Leave(BRIDGE, PEER)} <= set(commands)
    target = transfer(story).target
    came(story, target, "answered")
    story.take(complete(transfer(story).id))
    assert together(story) == {MAIN, target}
