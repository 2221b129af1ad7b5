"""Control of one leg: mute, hangup, and a party dialled into any state."""

import pytest

from engine.calls.model.call_states import Dialing, Playing
from engine.calls.model.causes import BUSY, NO_ANSWER, NORMAL
from engine.calls.model.commands import Dial, Hangup, Mute, Originate, Play, StopPlayback, Unmute
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, LegRinging
from engine.calls.model.leg import Muted, MuteDirection, combine_mutes
from engine.calls.model.requests import LegHangupRequested, MuteRequested
from engine.calls.pending_hangups import RETRY_MS
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import (
    CLIPS,
    ID,
    MAIN,
    answered_call,
    bridged_call,
    dialing_call,
    say,
)
from tests.harness.calls.control import BOB, PEER, dial_into

THIRD = f"{ID}.l3"
DIRECTIONS: tuple[MuteDirection, ...] = ("in", "out", "both")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("leg", [MAIN, PEER])
def test_a_mute(leg: str, direction: MuteDirection) -> None:
    """Any leg, in any direction; an unmute reverts it."""
    story = bridged_call(BOB)
    assert story.take(MuteRequested(leg, direction)) == (Mute(leg, direction),)
    muted = story.emitted[-1]
    assert (muted.event, muted.channel_id, muted.muted) == ("leg-muted", leg, direction)
    assert story.take(MuteRequested(leg, "")) == (Unmute(leg, direction),)
    assert (story.emitted[-1].event, story.emitted[-1].muted) == ("leg-unmuted", None)


def test_another_direction() -> None:
    """The old mute ends."""
    story = bridged_call(BOB)
    story.take(MuteRequested(PEER, "in"))
    assert story.take(MuteRequested(PEER, "both")) == (Unmute(PEER, "in"), Mute(PEER, "both"))


@pytest.mark.parametrize("direction", ["", "in"])
def test_the_same_again(direction: Muted) -> None:
    """A repeated request changes nothing and emits no event."""
    story = bridged_call(BOB)
    story.take(MuteRequested(PEER, direction))
    before = story.call
    assert story.take(MuteRequested(PEER, direction)) == ()
    assert story.call is before


def test_a_mute_during_a_prompt() -> None:
    """The prompt is stopped and resumed, as the mute would wait for its end."""
    story = answered_call(say())
    story.deliver_media()
    request = story.state_as(Playing).request
    stop, mute, play = story.take(MuteRequested(MAIN, "in"), 1_200)
    assert (stop, mute) == (StopPlayback(request), Mute(MAIN, "in"))
    assert play == Play(MAIN, story.state_as(Playing).request, CLIPS, 1_200)


def test_a_mute_outlives_the_conversation() -> None:
    """It belongs to the leg until it is unmuted."""
    story = bridged_call(BOB, action=say())
    story.take(MuteRequested(MAIN, "in"))
    assert Unmute(MAIN, "in") not in story.take(LegEnded(PEER, NORMAL))
    assert story.take(MuteRequested(MAIN, "")) == (Unmute(MAIN, "in"),)


def test_two_mutes() -> None:
    """Combined mutes silence both directions."""
    assert combine_mutes("", "in") == combine_mutes("in", "") == combine_mutes("in", "in") == "in"
    assert combine_mutes("in", "out") == combine_mutes("both", "in") == "both"
    assert combine_mutes("", "") == ""


def test_one_of_several_ringing_legs_is_hung_up() -> None:
    """The others keep ringing."""
    story = dialing_call(BOB, "+4787654321")
    story.take(LegCreated(PEER))
    assert story.take(LegHangupRequested(PEER)) == (Hangup(PEER, NORMAL),)
    story.take(LegEnded(PEER, NORMAL), 30)
    assert story.emitted[-1].leg_status == "canceled"
    assert story.state_as(Dialing).legs == (f"{ID}.l2",)


@pytest.mark.parametrize("late", [LegCreated, LegRinging, LegAnswered])
def test_a_hangup_overtakes_its_originate(late: type[LegCreated]) -> None:
    """A leg that does not exist yet ends at once; when it appears, it is hung up again."""
    story = bridged_call(BOB)
    leg = dial_into(story)
    assert story.take(LegHangupRequested(leg)) == (Hangup(leg, NORMAL),)
    assert (story.call.leg(leg), story.call.invited) == (None, ())
    assert (story.emitted[-1].event, story.emitted[-1].leg_status) == ("leg-completed", "canceled")
    assert story.take(late(leg)) == (Hangup(leg, NORMAL),)


def test_an_answer_overtakes_a_hangup() -> None:
    """A leg with a requested hangup is no longer admitted."""
    story = bridged_call(BOB)
    leg = dial_into(story, state="ringback")
    story.take(LegHangupRequested(leg))
    assert story.take(LegAnswered(leg)) == (Hangup(leg, NORMAL),)
    story.take(LegEnded(leg, NORMAL))
    assert (story.call.leg(leg), story.call.invited) == (None, ())


def test_a_hangup_without_an_end() -> None:
    """The hangup is repeated after 5 s; the ring deadline holds for such a leg, too."""
    story = bridged_call(BOB)
    leg = dial_into(story, state="ringback")
    story.take(LegHangupRequested(leg))
    began_ms = story.now
    assert story.pass_deadline() == (Hangup(leg, NORMAL, is_repeated=True),)
    assert story.now == began_ms + RETRY_MS
    while story.call.invited:
        commands = story.pass_deadline()
    assert Hangup(leg, NO_ANSWER) in commands
    story.take(LegEnded(leg, NORMAL))
    assert deadline_ms(story.call) == story.call.must_end_ms


def test_a_hangup_that_the_pbx_refuses() -> None:
    """The hangup of one of two parties is repeated until its leg ends, ever more seldom."""
    story = bridged_call(BOB)
    story.take(LegHangupRequested(PEER))
    for delay_s in (5, 10, 20, 40, 80, 160, 320, 320):
        began_ms = story.now
        assert story.pass_deadline() == (Hangup(PEER, NORMAL, is_repeated=True),)
        assert story.now - began_ms == delay_s * 1_000
    story.take(LegEnded(PEER, NORMAL))
    assert (story.state, story.call.ended_by) == ("ending", "api")


def test_a_party_is_dialled_in() -> None:
    """It is called with the call's caller id and the requested timeout."""
    story = bridged_call(BOB)
    leg = dial_into(story)
    assert story.commands_of(Originate)[-1] == Originate(
        leg, "+4787654321", "+4799", originator=MAIN
    )
    assert story.emitted[-1].event == "leg-initiated"
    assert story.take(LegCreated(leg), 200) == (Dial(leg, 40),)
    rang = story.now
    assert story.pass_deadline() == (Hangup(leg, NO_ANSWER),)
    assert story.now == rang + 40_000
    assert story.state == "bridged"


def test_a_party_that_does_not_answer() -> None:
    """The call's state is not affected."""
    story = bridged_call(BOB)
    leg = dial_into(story, state="ringback")
    before = story.call.state
    assert story.take(LegEnded(leg, BUSY)) == ()
    assert (story.call.state, story.call.invited) == (before, ())
    assert story.emitted[-1].leg_status == "busy"


def test_the_conversation_ends_while_it_rings() -> None:
    """A party that still rings then is hung up."""
    story = bridged_call(BOB, action=say())
    leg = dial_into(story, state="ringback")
    assert Hangup(leg, NORMAL) in story.take(LegEnded(PEER, NORMAL))
    assert story.take(LegAnswered(leg)) == (Hangup(leg, NORMAL),)
    assert story.state == "playing"


def test_the_call_ends_while_it_rings() -> None:
    """It is hung up with the others, once."""
    story = bridged_call(BOB)
    leg = dial_into(story, state="ringback")
    commands = story.hang_up()
    assert [c for c in commands if isinstance(c, Hangup)] == [
        Hangup(PEER, NORMAL),
        Hangup(leg, NORMAL),
    ]
