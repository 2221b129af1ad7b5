"""A channel that Asterisk puts in the place of a leg: the call goes on with it, in every state."""

import pytest
from msgspec.structs import replace

from engine.calls.model import causes, events
from engine.calls.model.call import update_leg
from engine.calls.model.call_states import Bridged, Gathering
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    Mute,
    Play,
    StartHoldMusic,
    StartRecording,
    StartRinging,
    StopPlayback,
)
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import MuteRequested, TransferCancelRequested
from engine.calls.model.sessions import HoldMusic
from engine.calls.sessions.replacement import MAX_REPLACEMENTS
from tests.harness.calls.builders import (
    CHANNEL,
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    inbound,
    say,
)
from tests.harness.calls.control import (
    BOB,
    CAROL,
    MUSIC_URL,
    PEER,
    SESSION,
    TARGET,
    THIRD,
    bridged_legs,
    dial_into,
    hold,
    in_conference,
    media_of,
    members,
    transfer,
    transferring,
)
from tests.harness.calls.states import STATES
from tests.harness.calls.voicemails import ARCHIVE, recording_voicemail

ARRIVED = "1700000000.77"
LEAVES = Hangup(MAIN, causes.NORMAL)  # Asterisk may leave its phone without a BYE
REFUSED = (Hangup(ARRIVED, causes.REJECTED),)


def swap(story: Story, replaced: str = MAIN) -> tuple[object, ...]:
    return story.take(events.LegReplaced(ARRIVED, replaced), 100)


@pytest.mark.parametrize("name", sorted(STATES.keys() - {"bridged", "ended", "starting"}))
def test_a_swap_in_every_state(name: str) -> None:
    """The call is in the same state with the new leg, unless it is ending."""
    story = STATES[name]()
    before = story.state
    commands = swap(story)
    if name in {"ending", "archiving-recordings"}:
        assert Hangup(ARRIVED, causes.REJECTED) in commands
        return
    assert story.state == before
    assert story.call.main == ARRIVED
    assert story.call.is_up(ARRIVED)
    assert [each.leg.id for each in story.call.ended_legs] == [MAIN]
    assert commands[-1] == LEAVES
    assert MAIN not in repr((story.call.state, commands[:-1]))


def test_an_ended_call_hangs_the_leg_up() -> None:
    assert swap(STATES["ended"]()) == REFUSED


@pytest.mark.parametrize("replaced", ["1.1", f"{ID}.l8"])
def test_an_unknown_leg(replaced: str) -> None:
    story = answered_call(say())
    before = story.call
    assert swap(story, replaced) == REFUSED
    assert story.call == before


def test_a_call_goes_on_with_a_limited_number_of_legs() -> None:
    """A phone may replace its leg for ever, at no cost; the next leg ends, and so does the call."""
    story = Story(inbound(say()))
    story.take(events.CallOpened())
    story.take(events.LegAnswered(CHANNEL))
    for number in range(MAX_REPLACEMENTS):
        story.take(events.LegReplaced(f"17.{number}", story.call.main), 100)
        assert (story.call.main, story.call.caller_kind) == (f"17.{number}", "trunk")
    commands = story.take(events.LegReplaced(ARRIVED, story.call.main), 100)
    assert REFUSED[0] in commands
    assert story.call.leg(ARRIVED) is None
    assert story.state == "ended"


def test_a_leg_that_is_being_hung_up_has_no_place() -> None:
    story = transferring("answered")
    story.take(TransferCancelRequested(SESSION, "7", "why"))
    assert REFUSED[0] in swap(story, TARGET)
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_swap_that_is_reported_twice() -> None:
    """By its event and by a recovery."""
    story = answered_call(say())
    swap(story)
    before = story.call
    assert swap(story) == ()
    assert story.call == before


def test_the_customer_hears_ringing_and_is_connected() -> None:
    """A transfer to a party that still rings."""
    story = dialing_call(BOB)
    story.take(events.LegRinging(PEER), 500)
    assert swap(story) == (StartRinging(ARRIVED), LEAVES)
    commands = story.take(events.LegAnswered(PEER), 2_000)
    assert AddToBridge(media_of(story, PEER).bridge, (ARRIVED, PEER)) in commands
    assert bridged_legs(story) == {ARRIVED, PEER}


def test_a_caller_who_is_not_answered_yet() -> None:
    """The new leg is answered already, which answers the call."""
    action = {"type": "dial", "data": {"number": BOB}}
    story = Story(inbound(action, answer_deferred=True))
    story.take(events.CallOpened())
    swap(story, CHANNEL)
    assert story.status == "in-progress"
    assert story.call.answered_ms == story.now
    assert media_of(story, ARRIVED).sound == "ringing"
    story.take(events.LegAnswered(story.call.legs[0].id), 2_000)
    assert story.state == "bridged"


def test_a_party_that_rings_is_picked_up() -> None:
    """The leg in its place is the party that has answered."""
    story = dialing_call(BOB)
    story.take(events.LegRinging(PEER), 500)
    swap(story, PEER)
    assert bridged_legs(story) == {MAIN, ARRIVED}
    assert story.leg(ARRIVED).party == BOB


def test_a_party_that_is_called_into_a_verb_is_picked_up() -> None:
    """The conversation is one with the party that was called."""
    story = answered_call(say())
    leg = dial_into(story, state="ringback")
    swap(story, leg)
    assert bridged_legs(story) == {MAIN, ARRIVED}
    assert story.state_as(Bridged).number == CAROL


def test_the_digits_of_the_new_leg_count() -> None:
    """The prompt goes on; the digits of the leg before it are kept."""
    data = {"audioUrl": HTTPS, "maxDigits": 2}
    story = answered_call({"type": "gather", "data": data, "action": say()})
    story.deliver_media()
    assert swap(story) == (LEAVES,)
    assert story.state_as(Gathering).phase == "prompt"
    story.press("1")
    story.press("2")
    assert [(each.leg, each.digits) for each in story.call.gathered] == [(ARRIVED, "12")]


def test_a_key_of_the_leg_before_does_not_count() -> None:
    """It went down on another phone."""
    story = answered_call({"type": "gather", "data": {"maxDigits": 1}})
    pressed_ms = story.now
    swap(story)
    story.take(events.DigitPressed(ARRIVED, "1", pressed_ms, 200), 100)
    assert story.state == "gathering"


def test_the_hold_of_the_phone_that_leaves_is_over() -> None:
    """The prompt that it suspended continues to the new leg."""
    story = answered_call(say(action=say()))
    story.deliver_media()
    story.take(events.LegHeldByPhone(MAIN), 500)
    commands = swap(story)
    assert [each.leg for each in commands if isinstance(each, Play)] == [ARRIVED]
    assert not story.leg(ARRIVED).is_held


def test_a_hold_and_a_mute_by_requests_stay() -> None:
    """They are of the place, whoever has it."""
    story = in_conference()
    story.take(hold(MAIN))
    story.take(MuteRequested(MAIN, "in"))
    commands = swap(story)
    assert StartHoldMusic(ARRIVED) in commands
    assert Mute(ARRIVED, "in") in commands
    assert story.leg(ARRIVED).held


def test_a_voicemail_goes_on() -> None:
    story = recording_voicemail()
    name = story.call.recordings[0].name
    assert swap(story) == (LEAVES,)
    assert [each.name for each in story.call.recordings] == [name]
    story.hang_up()
    assert story.call.ended_legs[-1].leg.id == ARRIVED


def test_a_verb_that_names_the_leg_is_for_the_new_one() -> None:
    gather = {"type": "gather", "data": {"channelId": MAIN, "maxDigits": 1}}
    story = answered_call(say(action=gather))
    story.deliver_media()
    swap(story)
    story.pass_deadline()
    assert story.state_as(Gathering).leg == ARRIVED


def test_the_new_leg_is_a_member_of_the_conference() -> None:
    """Its party is not named; the one before it has left."""
    story = in_conference()
    swap(story, PEER)
    assert bridged_legs(story) == {MAIN, ARRIVED, THIRD}
    assert members(story)[PEER] == ("complete", "hangup")
    assert members(story)[ARRIVED] == ("connected", "")
    story.take(events.LegEnded(ARRIVED, 16), 1_000)
    assert bridged_legs(story) == {MAIN, THIRD}


@pytest.mark.parametrize("place", ["source", "customer", "target"])
def test_a_swap_during_a_transfer(place: str) -> None:
    story = transferring("answered")
    swap(story, getattr(transfer(story), place))
    assert getattr(transfer(story), place) == ARRIVED
    assert transfer(story).is_live
    assert media_of(story, transfer(story).customer).sound == "music"


def test_custom_music_begins_again() -> None:
    """The playback of the leg before it ends."""
    story = transferring("answered", music=MUSIC_URL)
    music = transfer(story).hold_music
    assert music is not None
    story.take(MediaFetched(music.request, CLIPS))
    before = media_of(story, MAIN).sound
    assert isinstance(before, HoldMusic)
    commands = swap(story)
    after = media_of(story, ARRIVED).sound
    assert isinstance(after, HoldMusic)
    assert commands[0] == StopPlayback(before.playback)
    assert Play(ARRIVED, after.playback, after.clips) in commands
    assert after.playback != before.playback


def test_two_parties_who_talk_are_transferred() -> None:
    """The record lists a transfer by the leg that has left."""
    story = bridged_call(BOB)
    swap(story, PEER)
    assert bridged_legs(story) == {MAIN, ARRIVED}
    assert (transfer(story).source, transfer(story).state) == (PEER, "blind_transferred")
    assert story.commands_of(Hangup) == [Hangup(PEER, causes.NORMAL)]


def test_a_recording_goes_on_outside_a_bridge() -> None:
    """Asterisk keeps it; it also ends with the call."""
    story = answered_call(say(), recording_destination=ARCHIVE, recording_enabled=True)
    story.call = update_leg(story.call, MAIN, tapped_party=PEER)
    swap(story)
    assert story.leg(ARRIVED).tapped_party == PEER
    assert len(story.commands_of(StartRecording)) == 1
    assert [(each.leg, each.state) for each in story.call.recordings] == [(ARRIVED, "running")]


def test_a_recording_begins_again_in_a_bridge() -> None:
    """Asterisk has ended it with the leg."""
    story = in_conference()
    enabled = replace(story.call, recording_destination=ARCHIVE, recording_enabled=True)
    story.call = enabled
    story.take(events.LegHeldByPhone(PEER))
    swap(story)
    assert [each.leg for each in story.commands_of(StartRecording)] == [MAIN, ARRIVED]


@pytest.mark.parametrize("is_caller", [True, False])
def test_the_new_leg_has_the_role_of_the_one_before(is_caller: bool) -> None:
    """So the record tells which side has ended the call."""
    story = answered_call(say())
    legs = (replace(story.call.legs[0], is_caller=is_caller),)
    story.call = replace(story.call, legs=legs)
    swap(story)
    story.hang_up()
    assert story.call.is_ended
    assert story.call.ended_by == ("caller" if is_caller else "callee")
    assert story.call.ended_by_leg == ARRIVED
    record = story.emitted[-1].record
    assert record is not None
    assert [leg.channel_id for leg in record.legs] == [MAIN, ARRIVED]
    assert [leg.party for leg in record.legs][1] == ""
