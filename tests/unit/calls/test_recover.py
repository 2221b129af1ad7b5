"""Recovery is ordinary events: what the PBX shows against what was stored (design section 3.6)."""

from collections.abc import Callable

import pytest

from engine.calls.asked import HangupRequested
from engine.calls.call import deadline_ms
from engine.calls.commands import (
    Answer,
    Bridge,
    Command,
    Hangup,
    Originate,
    Play,
    Ring,
    StartMusic,
    StartRinging,
    StopRinging,
)
from engine.calls.doing import Talking
from engine.calls.errands import FetchMedia
from engine.calls.events import (
    CallOpened,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
    PlaybackEnded,
    Recovered,
)
from engine.calls.playbacks import playback_of
from engine.calls.recover import Seen, missed, rung_by
from tests.unit.calls.building import (
    CHANNEL,
    HTTPS,
    ID,
    MAIN,
    Story,
    called,
    dialing,
    inbound,
    outbound,
    say,
    talking,
)

LEG = f"{ID}.l1"
PLAYBACK = f"{ID}.p1"
BOB = "+4712345678"
LOST = LegEnded(MAIN, 0)


def opened(story: Story) -> Story:
    """Let a call begin."""
    story.take(CallOpened())
    return story


def ringing() -> Story:
    """Make a call whose main leg rings."""
    story = opened(Story(outbound(say())))
    story.take(LegRang(MAIN))
    return story


def heard() -> Story:
    """Make a call that plays."""
    story = called(say())
    story.fetched()
    return story


def prompted() -> Story:
    """Make a call that plays a gather's prompt."""
    story = called({"type": "gather", "data": {"audioUrl": HTTPS}})
    story.fetched()
    return story


def outbox(story: Story, *kinds: type[Command]) -> tuple[Command, ...]:
    """Give the commands of some kinds, as not known to be done."""
    return tuple(each for each in story.commands if isinstance(each, kinds))


LEGS: list[tuple[str, Callable[[], Story], bool, str | None, object]] = [
    ("unsent", lambda: opened(Story(outbound(say()))), True, None, None),
    ("gone", lambda: opened(Story(outbound(say()))), False, None, LOST),
    ("placed", lambda: opened(Story(outbound(say()))), True, "Down", LegPlaced(MAIN)),
    ("rang", lambda: opened(Story(outbound(say()))), False, "Ringing", LegRang(MAIN)),
    ("still rings", ringing, False, "Ringing", None),
    ("answered", ringing, False, "Up", LegAnswered(MAIN)),
    ("still up", called, False, "Up", None),
    ("still placed", ringing, False, "Down", None),
    ("hung up", called, False, None, LOST),
]


@pytest.mark.parametrize(
    ("_name", "make", "unsent", "shown", "event"), LEGS, ids=[each[0] for each in LEGS]
)
def test_a_leg_that_moved_while_nobody_watched(
    _name: str, make: Callable[[], Story], unsent: bool, shown: str | None, event: object
) -> None:
    """Placed, rung, answered or gone: told as the event that was missed, then Recovered."""
    story = make()
    seen = Seen({} if shown is None else {MAIN: shown})
    box = outbox(story, Originate) if unsent else ()
    _, events = missed(story.call, box, seen, story.now)
    assert events == ((event, Recovered()) if event else (Recovered(),))


def test_an_originate_that_was_not_sent_is_sent() -> None:
    """What is in the outbox and not to be seen is done again."""
    story = opened(Story(outbound()))
    box = outbox(story, Originate)
    assert missed(story.call, box, Seen({}), story.now)[0] == box
    assert missed(story.call, box, Seen({MAIN: "Down"}), story.now)[0] == ()


def test_a_leg_that_was_made_is_not_made_again() -> None:
    """Its party may have been called, and have refused: it is lost."""
    story = opened(Story(outbound()))
    story.take(LegPlaced(MAIN))
    box = outbox(story, Originate, Ring)
    redo, events = missed(story.call, box, Seen({}), story.now)
    assert redo == ()
    assert events == (LOST, Recovered())


def test_a_party_that_was_not_called_is_called() -> None:
    """A leg that is down and bears no mark is rung, and has its whole time for that."""
    story = opened(Story(outbound()))
    story.take(LegPlaced(MAIN))
    box = outbox(story, Originate, Ring)
    redo, events = missed(story.call, box, Seen({MAIN: "Down"}), story.now)
    assert redo == (Ring(MAIN, 30),)
    story.now += 29_000
    for event in events:
        assert story.take(event) == ()
    assert deadline_ms(story.call) == story.now + 30_000


@pytest.mark.parametrize("state", ["Down", "Ringing", "Up"])
def test_nobody_is_called_twice(state: str) -> None:
    """A second call on a leg that is down ends it (docs/asterisk.md), so the mark is looked at."""
    story = opened(Story(outbound()))
    story.take(LegPlaced(MAIN))
    box = outbox(story, Ring)
    assert rung_by(box) == (MAIN,)
    seen = Seen({MAIN: state}, called=frozenset({MAIN}))
    redo, events = missed(story.call, box, seen, story.now)
    assert redo == ()
    assert LegPlaced(MAIN) not in events


def test_an_originate_of_a_canceled_call_is_not_sent() -> None:
    """Make a call that is ending rings no phone any more: its unsent leg is simply gone."""
    story = opened(Story(outbound()))
    story.take(HangupRequested("api"))
    box = outbox(story, Originate, Hangup)
    redo, events = missed(story.call, box, Seen({}), story.now)
    assert redo == (Hangup(MAIN, 16),)
    assert events == (LOST, Recovered())


def test_an_originate_of_a_dial_that_gave_up_is_not_sent() -> None:
    """Nor does a dial that is over."""
    story = dialing(BOB, action=say())
    box = outbox(story, Originate)
    story.due()
    redo, events = missed(story.call, box, Seen({MAIN: "Up"}), story.now)
    assert redo == ()
    assert LegEnded(LEG, 0) in events


@pytest.mark.parametrize(("state", "again"), [("Ring", True), ("Up", False), (None, False)])
def test_an_answer_is_given_once(state: str | None, again: bool) -> None:
    """An inbound leg is answered unless it is up, or gone."""
    story = opened(Story(inbound()))
    seen = Seen({} if state is None else {CHANNEL: state})
    redo, _ = missed(story.call, outbox(story, Answer), seen, story.now)
    assert redo == ((Answer(CHANNEL),) if again else ())


PLAYBACKS = [
    ("plays on", True, 0, True, False, False),
    ("plays on, sent for all we know", False, 0, True, False, False),
    ("ended", False, 0, False, False, True),
    ("never began", True, 0, False, True, False),
    ("never began, and would be over", True, 60_000, False, False, True),
]


@pytest.mark.parametrize("make", [heard, prompted])
@pytest.mark.parametrize("case", PLAYBACKS, ids=[each[0] for each in PLAYBACKS])
def test_a_playback(
    make: Callable[[], Story], case: tuple[str, bool, int, bool, bool, bool]
) -> None:
    """Playbacks are not checked by Asterisk: one is repeated only if it is not to be seen."""
    _, unsent, later_ms, alive, again, ended = case
    story = make()
    box = outbox(story, Play) if unsent else ()
    seen = Seen({MAIN: "Up"}, frozenset({PLAYBACK} if alive else ()))
    redo, events = missed(story.call, box, seen, story.now + later_ms)
    assert redo == (box if again else ())
    assert (PlaybackEnded(PLAYBACK) in events) is ended


def test_an_earlier_playback_is_not_repeated() -> None:
    """A Play of a verb that has ended is stale."""
    story = heard()
    box = outbox(story, Play)
    story.take(PlaybackEnded(PLAYBACK))
    assert missed(story.call, box, Seen({MAIN: "Up"}), story.now)[0] == ()


def test_the_playback_that_is_waited_for() -> None:
    """Only a verb that has its audio waits for a playback."""
    assert playback_of(heard().call) == PLAYBACK
    assert playback_of(prompted().call) == PLAYBACK
    assert playback_of(called(say()).call) is None
    assert playback_of(called({"type": "gather"}).call) is None
    assert playback_of(dialing(BOB).call) is None


def test_a_bridge_is_joined_by_recovered() -> None:
    """A Bridge is not repeated: Recovered names who is in it, and the call joins the others."""
    story = talking(BOB)
    bridge = story.doing(Talking).bridge
    seen = Seen({MAIN: "Up", LEG: "Up"}, bridges={bridge: (MAIN,)})
    redo, events = missed(story.call, outbox(story, Bridge), seen, story.now)
    assert redo == ()
    assert events == (Recovered(((MAIN, bridge),)),)
    assert story.take(events[0]) == (Bridge(bridge, (LEG,)),)
    nobody = Seen({MAIN: "Up", LEG: "Up"})
    assert missed(story.call, (), nobody, story.now)[1] == (Recovered(()),)


def test_everything_else_in_the_outbox_is_done_again() -> None:
    """Hangups, tones, errands: doing them twice is harmless."""
    story = dialing(BOB)
    box = (FetchMedia("r", ()), Hangup("x", 16), StartRinging(MAIN))
    seen = Seen({MAIN: "Up", LEG: "Down"})
    assert missed(story.call, box, seen, story.now)[0] == box


def test_no_tone_is_played_into_a_conversation() -> None:
    """Ringing that began before the answer is over by then, though nobody noted that it was."""
    story = talking(BOB)
    seen = Seen({MAIN: "Up", LEG: "Up"})
    box = (StartRinging(MAIN), StartMusic(MAIN), StopRinging(MAIN))
    assert missed(story.call, box, seen, story.now)[0] == (StopRinging(MAIN),)


def test_both_legs_may_have_gone() -> None:
    """A node that restarted shows nothing: every leg is told as lost and the call ends."""
    story = talking(BOB)
    _, events = missed(story.call, (), Seen({}), story.now)
    for event in events:
        story.take(event)
    assert story.call.is_over
    last = story.told[-1]
    assert (last.reason, last.ended_by, last.call_status) == ("lost", "system", "completed")


def test_a_call_lost_before_its_answer_has_failed() -> None:
    """Nobody canceled it and nobody was busy: it was lost."""
    story = opened(Story(inbound(say())))
    story.take(LegEnded(CHANNEL, 0))
    last = story.told[-1]
    assert (last.reason, last.call_status, last.hangup_cause) == ("lost", "failed", 41)
