"""Recovery of sounds, bridges and other pending commands."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine.calls.media.awaited_playbacks import active_playback
from engine.calls.model.call_states import Bridged, Gathering, Playing
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Hangup,
    Play,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StartVoicemail,
    StopRinging,
)
from engine.calls.model.events import PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.builders import (
    ID,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    say,
)
from tests.harness.calls.control import hold
from tests.harness.calls.recoveries import outbox, playing_call, playing_gather_prompt
from tests.harness.calls.voicemails import end_voicemail, recording_voicemail

LEG = f"{ID}.l1"
PLAYBACK = f"{ID}.p1"
BOB = "+4712345678"
PLAYBACKS = [
    ("plays on", True, 0, True, False, False),
    ("plays on, sent for all we know", False, 0, True, False, False),
    ("ended", False, 0, False, False, True),
    ("never began", True, 0, False, True, False),
    ("never began, and would be over", True, 60_000, False, False, True),
]


def test_a_playback_that_begins_during_the_snapshot() -> None:
    """It may not be shown, and plays: it has not ended, and is not played again."""
    story = playing_call()
    finished = outbox(story, Play)
    seen = PbxSnapshot({MAIN: "Up"}, finished=finished)
    redo, events = reconcile(story.call, (), seen, story.now)
    assert (redo, events) == ((), (Recovered(),))
    _, events = reconcile(story.call, (), replace(seen, finished=()), story.now)
    assert events == (PlaybackEnded(PLAYBACK), Recovered())


@pytest.mark.parametrize("make", [playing_call, playing_gather_prompt])
@pytest.mark.parametrize("case", PLAYBACKS, ids=[each[0] for each in PLAYBACKS])
def test_a_playback(
    make: Callable[[], Story], case: tuple[str, bool, int, bool, bool, bool]
) -> None:
    """Asterisk does not reject a repeated playback: it is repeated only if it is not active."""
    _, unsent, later_ms, alive, again, ended = case
    story = make()
    box = outbox(story, Play) if unsent else ()
    seen = PbxSnapshot({MAIN: "Up"}, frozenset({PLAYBACK} if alive else ()))
    redo, events = reconcile(story.call, box, seen, story.now + later_ms)
    assert redo == (box if again else ())
    assert (PlaybackEnded(PLAYBACK) in events) is ended
    assert isinstance(events[-1], Recovered)
    assert events[-1].uncertain == ((PLAYBACK,) if ended and unsent else ())


@pytest.mark.parametrize("make", [playing_call, playing_gather_prompt])
def test_a_playback_that_was_not_requested(make: Callable[[], Story]) -> None:
    """It is requested however late, as it was not heard."""
    story = make()
    box = outbox(story, Play)
    story.now += 60_000
    seen = PbxSnapshot({MAIN: "Up"}, unsent=frozenset({PLAYBACK}))
    redo, events = reconcile(story.call, box, seen, story.now)
    assert (redo, events) == (box, (Recovered(restarted=(PLAYBACK,)),))
    story.take(events[0])
    assert playing_state(story).ends_ms > story.now


@pytest.mark.parametrize("make", [playing_call, playing_gather_prompt])
def test_a_repeated_prompt_begins_only_now(make: Callable[[], Story]) -> None:
    """Its end moves by the outage; a hold then resumes it where it is, not later."""
    story = make()
    before = playing_state(story)
    box = outbox(story, Play)
    story.now += 1_000
    seen = PbxSnapshot({MAIN: "Up"})
    _, events = reconcile(story.call, box, seen, story.now)
    assert events == (Recovered(restarted=(PLAYBACK,)),)
    assert story.take(events[0]) == ()
    after = playing_state(story)
    assert after.ends_ms == before.ends_ms + 1_000
    assert after.deadline_ms == before.deadline_ms + 1_000
    story.take(hold(MAIN))
    assert playing_state(story).played_ms == 0


def playing_state(story: Story) -> Playing | Gathering:
    """Return the state of a call that plays a prompt."""
    assert isinstance(story.call.state, Playing | Gathering)
    return story.call.state


def test_an_earlier_playback_is_not_repeated() -> None:
    """A Play of a verb that has ended is stale."""
    story = playing_call()
    box = outbox(story, Play)
    story.take(PlaybackEnded(PLAYBACK))
    assert reconcile(story.call, box, PbxSnapshot({MAIN: "Up"}), story.now)[0] == ()


def test_the_awaited_playback() -> None:
    """Only a verb that has its audio awaits a playback."""
    assert active_playback(playing_call().call) == PLAYBACK
    assert active_playback(playing_gather_prompt().call) == PLAYBACK
    assert active_playback(answered_call(say()).call) is None
    assert active_playback(answered_call({"type": "gather"}).call) is None
    assert active_playback(dialing_call(BOB).call) is None


def test_a_leg_that_has_come_back_to_its_bridge_is_not_removed() -> None:
    """The removal is of a time before."""
    story = bridged_call(BOB)
    bridge = story.state_as(Bridged).bridge
    seen = PbxSnapshot({MAIN: "Up", LEG: "Up"}, bridges={bridge: (MAIN, LEG)})
    box = (RemoveFromBridge(bridge, LEG),)
    assert reconcile(story.call, box, seen, story.now)[0] == ()
    elsewhere = PbxSnapshot({MAIN: "Up", LEG: "Up"}, bridges={"other": (LEG,)})
    box = (RemoveFromBridge("other", LEG),)
    assert reconcile(story.call, box, elsewhere, story.now)[0] == box


def test_a_bridge_is_joined_by_recovered() -> None:
    """AddToBridge is not repeated: Recovered has the bridged legs, and the call adds the others."""
    story = bridged_call(BOB)
    bridge = story.state_as(Bridged).bridge
    seen = PbxSnapshot({MAIN: "Up", LEG: "Up"}, bridges={bridge: (MAIN,)})
    redo, events = reconcile(story.call, outbox(story, AddToBridge), seen, story.now)
    assert redo == ()
    assert events == (Recovered(((MAIN, bridge),)),)
    assert story.take(events[0]) == (AddToBridge(bridge, (LEG,)),)
    empty = PbxSnapshot({MAIN: "Up", LEG: "Up"})
    assert reconcile(story.call, (), empty, story.now)[1] == (Recovered(()),)


def test_an_unused_bridge_is_destroyed() -> None:
    """A bridge left over from a lost reply is destroyed once, after its legs have left."""
    story, room = playing_gather_prompt(), f"{MAIN}b"
    seen = PbxSnapshot({MAIN: "Up"}, bridges={room: (MAIN,), "another": (), f"{ID}x.b1": ()})
    _, events = reconcile(story.call, (), seen, story.now)
    assert events[-1] == Recovered(((MAIN, room),), (room,))
    assert story.take(events[-1])[-2:] == (RemoveFromBridge(room, MAIN), DestroyBridge(room))
    again = reconcile(story.call, (DestroyBridge(room),), seen, story.now)
    assert again[0] == (DestroyBridge(room),)
    assert again[1][-1] == Recovered(((MAIN, room),))


def test_a_bridge_that_is_used_again_is_not_destroyed() -> None:
    """As when a bot's action has ended: the DELETE was done, and only its reply was lost."""
    story = bridged_call(BOB)
    bridge = story.state_as(Bridged).bridge
    seen = PbxSnapshot({MAIN: "Up", LEG: "Up"}, bridges={bridge: (MAIN, LEG)})
    redo, events = reconcile(story.call, (DestroyBridge(bridge),), seen, story.now)
    assert (redo, events) == ((), (Recovered(((MAIN, bridge), (LEG, bridge))),))


def test_other_pending_commands_are_executed_again() -> None:
    """Hangups, tones, I/O commands: repeating them is harmless."""
    story = dialing_call(BOB)
    box = (FetchMedia("r", ()), Hangup("x", 16), StartRinging(MAIN))
    seen = PbxSnapshot({MAIN: "Up", LEG: "Down"})
    assert reconcile(story.call, box, seen, story.now)[0] == box


def test_no_tone_is_played_into_a_conversation() -> None:
    """Ringing from before the answer has ended by then, even if its stop was not stored."""
    story = bridged_call(BOB)
    seen = PbxSnapshot({MAIN: "Up", LEG: "Up"})
    box = (StartRinging(MAIN), StartHoldMusic(MAIN), StopRinging(MAIN))
    assert reconcile(story.call, box, seen, story.now)[0] == (StopRinging(MAIN),)


def test_a_voicemail_is_repeated_only_while_it_is_recorded() -> None:
    """A file of an ended one would be missing, or replaced by silence."""
    story = recording_voicemail()
    seen = PbxSnapshot({MAIN: "Up"})
    pending = outbox(story, StartVoicemail)
    assert reconcile(story.call, pending, seen, story.now)[0] == pending
    end_voicemail(story)
    assert reconcile(story.call, pending, seen, story.now)[0] == ()
