"""A steered call is stored, taken up again and replayed: in each state everybody comes back."""

from collections.abc import Callable

import pytest

from engine.calls.causes import LOST
from engine.calls.codec import Entry, Record, decode_call, decode_record, encode
from engine.calls.commands import Bridge, FetchMedia, Leave, Play, StartMusic
from engine.calls.events import (
    LegAnswered,
    LegEnded,
    LegPlaced,
    MediaFetched,
    PlaybackEnded,
    Recovered,
)
from engine.calls.recover import Seen, missed, playbacks_of
from engine.calls.replay import replay
from engine.calls.seating import rooms, seats
from tests.unit.calls.building import CLIPS, ID, MAIN, Story, called, outbound, say, talking
from tests.unit.calls.steering import (
    BOB,
    BRIDGE,
    DAN,
    PEER,
    TARGET,
    THIRD,
    TUNE,
    cancel,
    coach,
    complete,
    conferring,
    dialled_into,
    hold,
    inviting,
    kick,
    swapped,
    together,
    transfer,
    transferring,
)

SNOOP = f"{ID}.s5"


def coaching() -> Story:
    """Make a conference in which Carol coaches Bob."""
    story = conferring()
    story.take(coach(THIRD, PEER))
    story.take(LegPlaced(SNOOP))
    return story


def tuned() -> Story:
    """Make a transfer whose customer hears music of its own."""
    story = transferring("answered", music=TUNE)
    story.take(MediaFetched(story.wanted(FetchMedia)[-1].request, CLIPS))
    return story


def waiting() -> Story:
    """Make a conference in which one waits for another."""
    story = inviting()
    story.take(LegEnded(PEER, 16))
    return story


def after(story: Story, *events: object) -> Story:
    """Let more happen."""
    for event in events:
        story.take(event)  # type: ignore[arg-type]  # what the builders give
    return story


STATES: dict[str, Callable[[], Story]] = {
    "starting": transferring,
    "ringback": lambda: transferring("ringback"),
    "answered": lambda: transferring("answered"),
    "swapped": lambda: swapped("answered"),
    "blind": lambda: transferring("ringback", mode="blind"),
    "blind and answered": lambda: transferring("answered", mode="blind"),
    "completed": lambda: after(transferring("answered"), complete()),
    "completed while it rings": lambda: after(transferring("ringback"), complete()),
    "canceled": lambda: after(transferring("answered"), cancel()),
    "with a tune": tuned,
    "inviting": inviting,
    "waiting": waiting,
    "in conference": lambda: conferring(DAN),
    "coaching": coaching,
    "one put out": lambda: after(conferring(), kick(PEER)),
    "held": lambda: after(talking(BOB), hold(MAIN)),
    "a prompt on hold": lambda: after(called(say()), hold(MAIN)),
}


def inside(story: Story) -> dict[str, set[str]]:
    """Name who is to be in each bridge."""
    found: dict[str, set[str]] = {bridge: set() for bridge in rooms(story.call)}
    for leg, seat in seats(story.call).items():
        if seat.bridge:
            found[seat.bridge].add(leg)
    return {bridge: legs for bridge, legs in found.items() if legs}


@pytest.mark.parametrize("state", STATES)
def test_everybody_comes_back(state: str) -> None:
    """All have left their bridges in the outage: each is asked to its own, nobody else."""
    story = STATES[state]()
    before = seats(story.call)
    commands = story.take(Recovered())
    joined = {each.bridge: set(each.legs) for each in commands if isinstance(each, Bridge)}
    assert joined == inside(story)
    assert seats(story.call) == before


@pytest.mark.parametrize("state", STATES)
def test_who_was_left_in_a_bridge_leaves(state: str) -> None:
    """Everybody was seen in the conversation's bridge: who belongs outside leaves it."""
    story = STATES[state]()
    legs = [leg.id for leg in story.call.legs if leg.state == "up"]
    commands = story.take(Recovered(tuple((leg, BRIDGE) for leg in legs)))
    outside = {leg for leg, seat in seats(story.call).items() if not seat.bridge}
    assert {each.leg for each in commands if isinstance(each, Leave)} == outside


@pytest.mark.parametrize("state", STATES)
def test_it_is_read_as_it_was_stored(state: str) -> None:
    """Call, sessions and outbox survive."""
    story = STATES[state]()
    record = Record(story.call, tuple(story.commands), 3)
    assert decode_record(encode(record)) == record


@pytest.mark.parametrize("state", STATES)
def test_its_log_tells_the_story_again(state: str) -> None:
    """The same call, the same commands."""
    story = STATES[state]()
    story.take(Recovered())
    tree = {"type": "dial", "data": {"number": [BOB]}}
    first = outbound(say() if state == "a prompt on hold" else tree)
    lines = [encode(Entry(now, event)) for now, event in story.events]
    moments = list(replay([encode(first), *lines]))
    assert moments[-1].call == story.call
    assert [each for moment in moments for each in moment.commands] == story.commands
    assert decode_call(encode(story.call)) == story.call


def seen(story: Story, *gone: str, **fields: object) -> Seen:
    """Show the PBX as it should be, without some channels."""
    channels = {leg.id: "Up" if leg.state == "up" else "Ringing" for leg in story.call.legs}
    return Seen({leg: state for leg, state in channels.items() if leg not in gone}, **fields)  # type: ignore[arg-type]  # fields of Seen


def recovered(story: Story, what: Seen) -> Story:
    """Take the call up again."""
    _, events = missed(story.call, (), what, story.now)
    return after(story, *events)


@pytest.mark.parametrize(
    ("state", "gone", "left", "ended"),
    [
        ("answered", PEER, {MAIN, TARGET}, "completed"),
        ("answered", TARGET, {MAIN, PEER}, "failed"),
        ("ringback", TARGET, {MAIN, PEER}, "failed"),
        ("swapped", MAIN, {PEER, TARGET}, "completed"),
    ],
)
def test_who_hung_up_in_the_outage(state: str, gone: str, left: set[str], ended: str) -> None:
    """It is as if it had been told then."""
    story = STATES[state]()
    recovered(story, seen(story, gone))
    assert (together(story), transfer(story).state) == (left, ended)


def test_a_round_that_ended_in_the_outage() -> None:
    """The next begins."""
    story = tuned()
    (playback,) = playbacks_of(story.call)
    _, events = missed(story.call, (), seen(story), story.now)
    assert PlaybackEnded(playback) in events
    recovered(story, seen(story))
    assert story.wanted(Play)[-1].playback != playback


def test_a_round_that_goes_on() -> None:
    """It is neither ended nor begun again."""
    story = tuned()
    (playback,) = playbacks_of(story.call)
    what = seen(story, playbacks=frozenset({playback}))
    play = story.wanted(Play)[-1]
    redo, events = missed(story.call, (play,), what, story.now)
    assert (redo, events) == ((), (Recovered(),))
    assert missed(story.call, (play,), seen(story), story.now)[0] == (play,)


def test_snoops_come_and_go_in_the_outage() -> None:
    """One that is there is used; one that is lost silences its coach."""
    story = conferring()
    story.take(coach(THIRD, PEER))
    there = seen(story)
    there.channels[SNOOP] = "Up"
    recovered(story, there)
    assert seats(story.call)[THIRD].bridge == f"{SNOOP}b"
    assert LegEnded(SNOOP, LOST) in missed(story.call, (), seen(story), story.now)[1]
    recovered(story, seen(story))
    assert seats(story.call)[THIRD].muted == "in"


def test_a_snoop_in_its_bridge_is_left_there() -> None:
    """Who is where it belongs is not asked there again."""
    story = coaching()
    what = seen(story, bridges={f"{SNOOP}b": (THIRD, SNOOP), BRIDGE: (MAIN, PEER)})
    what.channels[SNOOP] = "Up"
    before = len(story.wanted(Bridge))
    recovered(story, what)
    assert len(story.wanted(Bridge)) == before


def test_an_invited_one_answered_in_the_outage() -> None:
    """It is let in."""
    story = talking(BOB)
    leg = dialled_into(story, state="ringback")
    what = seen(story)
    what.channels[leg] = "Up"
    assert LegAnswered(leg) in missed(story.call, (), what, story.now)[1]
    recovered(story, what)
    assert together(story) == {MAIN, PEER, leg}


def test_music_that_was_not_begun() -> None:
    """It is begun for who still waits, and for nobody else."""
    story = transferring("ringback")
    assert missed(story.call, (StartMusic(MAIN),), seen(story), 0)[0] == (StartMusic(MAIN),)
    story.take(cancel())
    assert missed(story.call, (StartMusic(MAIN),), seen(story), 0)[0] == ()
