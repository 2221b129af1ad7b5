"""Every state against every event, and any story at all: the rules that always hold."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec.structs import replace

from engine.calls.asked import HangupRequested
from engine.calls.call import Call, deadline_ms, expects
from engine.calls.codec import Entry, Record, decode_call, decode_record, encode
from engine.calls.commands import Bridge, Hangup, Originate, Tell
from engine.calls.doing import Dialing, Next, Over, Talking
from engine.calls.events import (
    ActionFailed,
    ActionReplied,
    BridgeFailed,
    CallOpened,
    DeadlinePassed,
    DigitPressed,
    Event,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
    MediaFetched,
    PlaybackEnded,
    Recovered,
    TalkEnded,
    TalkStarted,
)
from engine.calls.machine import step
from engine.calls.recover import Seen, missed
from engine.calls.replay import replay
from engine.calls.running import MOST_VERBS
from engine.calls.verbs.end import HANGUP_MS, TRIES
from tests.unit.calls.building import (
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    NOW,
    Story,
    called,
    dialing,
    inbound,
    outbound,
    say,
    talking,
    tree,
)
from wire.answering import Detection
from wire.verbs import Action

BOB, EVE = "+4712345678", "+4787654321"


def gathering(phase: str) -> Story:
    """Make a call in a phase of a gather."""
    data = {"audioUrl": HTTPS, "fallback": say(), "maxDigits": 2}
    story = called({"type": "gather", "data": data, "action": HTTPS})
    if phase != "fetch":
        story.fetched(CLIPS if phase == "prompt" else ())
    if phase == "between":
        story.press("1")
    return story


def over() -> Story:
    """Make a call that has ended."""
    story = called({"type": "hangup"})
    story.hang_up()
    return story


def opened() -> Story:
    """Make a call that is being placed."""
    story = Story(outbound(say()))
    story.take(CallOpened())
    return story


def heard() -> Story:
    """Make a call that plays."""
    story = called(say(action=say()))
    story.fetched()
    return story


STATES: dict[str, Callable[[], Story]] = {
    "starting": opened,
    "fetching": lambda: called(say()),
    "playing": heard,
    "gathering-fetch": lambda: gathering("fetch"),
    "gathering-prompt": lambda: gathering("prompt"),
    "gathering-first": lambda: gathering("first"),
    "gathering-between": lambda: gathering("between"),
    "dialing": lambda: dialing(BOB, EVE, action=say()),
    "talking": lambda: talking(BOB, action=say()),
    "asking": lambda: called(HTTPS),
    "asking-flow": lambda: called({"type": "flow", "data": {"flowId": "f"}, "action": say()}),
    "ending": lambda: called({"type": "hangup"}),
    "over": over,
}


def events_for(story: Story) -> list[Event]:
    """List every kind of event, about what the call knows and about what it does not."""
    legs = [MAIN, f"{ID}.l1", f"{ID}.l9"]
    doing = story.call.doing
    request = getattr(doing, "request", f"{ID}.r1")
    bridge = getattr(doing, "bridge", f"{ID}.b1")
    about_legs: list[Event] = [
        event
        for leg in legs
        for event in (
            LegPlaced(leg),
            LegRang(leg),
            LegAnswered(leg),
            LegEnded(leg, 17, 486),
            LegEnded(leg, 0),
            DigitPressed(leg, "1", story.now),
            DigitPressed(leg, "#", story.now),
        )
    ]
    return [
        *about_legs,
        MediaFetched(request, CLIPS),
        MediaFetched(request, ()),
        PlaybackEnded(request),
        ActionReplied(request, tree(say())),
        ActionReplied(request, HTTPS),
        ActionReplied(request, None),
        ActionFailed(request, "status_500"),
        ActionReplied("other", None),
        BridgeFailed(bridge, "no"),
        HangupRequested("api"),
        DeadlinePassed(),
        Recovered(),
    ]


def assert_sound(call: Call, commands: tuple[Any, ...]) -> None:
    """Check what holds of any call after any step."""
    assert not isinstance(call.doing, Next), "never stored"
    if not call.is_over:
        when = deadline_ms(call)
        assert when is not None, "every state that waits has a deadline"
        hanging_up_ms = HANGUP_MS * (TRIES + 1)
        assert when <= call.latest_ms + hanging_up_ms, "no call lives longer than the longest"
    assert decode_record(encode(Record(call, commands))) == Record(call, commands)
    for command in commands:
        if isinstance(command, Hangup):
            leg = call.leg(command.leg)
            assert leg is None or not expects(call, leg.id), "what is wanted is not hung up"
        if isinstance(command, Bridge):
            assert isinstance(call.doing, Talking)


@pytest.mark.parametrize("state", STATES)
def test_every_event_in_every_state(state: str) -> None:
    """No state knows an event that it cannot take; afterwards the call is sound."""
    for place, _ in enumerate(events_for(STATES[state]())):
        story = STATES[state]()
        event = events_for(story)[place]
        commands = story.take(event, 10)
        assert_sound(story.call, commands)
        numbers = [told.sequence_number for told in story.told]
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("state", [name for name in STATES if name != "over"])
def test_a_hangup_ends_every_state(state: str) -> None:
    """Hangup during anything: all legs are told, the rest of the tree is dropped."""
    story = STATES[state]()
    legs = {leg.id for leg in story.call.legs}
    commands = story.take(HangupRequested("api"), 10)
    if state != "ending":
        assert {each.leg for each in commands if isinstance(each, Hangup)} == legs
    for leg in legs:
        story.take(LegEnded(leg, 16), 10)
    assert story.call.is_over
    assert deadline_ms(story.call) is None
    assert [told.event for told in story.told].count("completed") == 1


@pytest.mark.parametrize("state", [name for name in STATES if name != "over"])
def test_time_alone_ends_every_state(state: str) -> None:
    """Whatever is lost on the way, no call waits for ever."""
    story = STATES[state]()
    for _ in range(50):
        if story.call.is_over:
            break
        story.due()
    assert story.call.is_over


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_main_leg_to_lose(state: str) -> None:
    """The main leg's end is the call's, in every state."""
    story = STATES[state]()
    story.hang_up()
    assert all(leg.id != MAIN for leg in story.call.legs)
    assert story.state in {"Ending", "Over"}


def test_a_next_that_was_stored_goes_on() -> None:
    """Next is passed through within one step; if one is read all the same, its action begins."""
    story = called(say())
    stuck = replace(story.call, doing=Next(tree(say()), "start"))
    assert deadline_ms(stuck) is None
    call, commands = step(stuck, Recovered(), NOW)
    assert type(call.doing).__name__ == "Playing"
    assert commands


def test_an_over_call_has_no_part_for_any_leg() -> None:
    """Nothing is expected after the end."""
    assert not expects(over().call, MAIN)
    assert isinstance(over().call.doing, Over)


LEAVES = some.sampled_from(
    [
        HTTPS,
        None,
        {"type": "hangup"},
        {"type": "flow", "data": {"flowId": "f"}},
        {"type": "dial", "data": {"flowId": "f"}},
    ]
)


GREETINGS = some.fixed_dictionaries(
    {},
    optional={
        "whisper": some.sampled_from([say("for sales"), {"type": "gather", "action": say()}]),
        "confirm": some.sampled_from([{}, {"digit": "2", "audioUrl": HTTPS}]),
        "machineDetection": some.sampled_from([True, {"onMachine": "hangup"}]),
    },
)


def _around(inner: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    verbs = some.sampled_from([None, {"type": "hangup"}, say("fallback"), {"type": "gather"}])
    timeouts = some.sampled_from([None, 0.001, 1, 600])
    return some.one_of(
        some.builds(lambda after, timeout: say(action=after, timeout=timeout), inner, timeouts),
        some.builds(
            lambda after, fallback, prompt, digits: {
                "type": "gather",
                "action": after,
                "data": {"fallback": fallback, "audioUrl": prompt, "maxDigits": digits},
            },
            inner,
            verbs,
            some.sampled_from([None, HTTPS]),
            some.integers(1, 3),
        ),
        some.builds(
            lambda after, numbers, timeout, music, greeting: {
                "type": "dial",
                "action": after,
                "timeout": timeout,
                "data": {
                    "number": numbers,
                    "timeLimit": timeout,
                    "moh": {"enable": music},
                    **greeting,
                },
            },
            inner,
            some.lists(some.sampled_from([BOB, EVE]), min_size=1, max_size=3),
            timeouts,
            some.booleans(),
            GREETINGS,
        ),
        some.builds(
            lambda after: {"type": "flow", "data": {"flowId": "f"}, "action": after}, inner
        ),
    )


TREES = some.recursive(LEAVES, _around, max_leaves=6)
ON_MACHINE = some.sampled_from([None, "continue", "hangup", HTTPS])
PLACES = some.integers(0, 99)


def parsed(verb: Any) -> Action | None:
    """Parse a tree, or leave it out."""
    return None if verb is None else tree(verb)


class AnyStory(RuleBasedStateMachine):
    """A call, and a world that does anything it can, in any order, late, twice or wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.story: Story
        self.first: Call
        self.before_over: int | None = None

    @initialize(tree=TREES, comes_in=some.booleans(), on_machine=ON_MACHINE)
    def begin(self, tree: Any, comes_in: bool, on_machine: str | None) -> None:
        """Open a call of any tree, in either direction, listening to who answers or not."""
        self.first = inbound(tree) if comes_in else outbound(tree)
        if on_machine is not None:
            starting = replace(self.first.doing, detection=Detection(), on_machine=on_machine)
            self.first = replace(self.first, doing=starting)
        self.story = Story(self.first)
        self.take(CallOpened(), 0)

    def take(self, event: Event, after_ms: int) -> None:
        """Let something happen and check what must always hold."""
        was_over = self.story.call.is_over
        commands = self.story.take(event, after_ms)
        assert_sound(self.story.call, commands)
        if was_over:
            assert all(isinstance(each, Hangup) for each in commands)

    def leg(self, place: int) -> str:
        """Choose a leg: mostly one that lives, or was asked for, or nobody's."""
        asked = [each.leg for each in self.story.wanted(Originate)]
        legs = [*[leg.id for leg in self.story.call.legs], *asked, self.first.main, f"{ID}.l999"]
        return legs[place % len(legs)]

    def request(self, is_right: bool) -> str:
        """Choose the request that is waited for, or another."""
        doing = self.story.call.doing
        if isinstance(doing, Dialing) and doing.greetings:
            return str(getattr(doing.greetings[-1].doing, "request", "none"))
        return str(getattr(doing, "request", "none")) if is_right else "other"

    @rule(place=PLACES, kind=some.sampled_from([LegPlaced, LegRang, LegAnswered]))
    def a_leg_moves(self, place: int, kind: type[LegPlaced]) -> None:
        """Reach a phone, let it ring, or answer it."""
        self.take(kind(self.leg(place)), 500)

    @rule(place=PLACES, cause=some.sampled_from([0, 16, 17, 19, 21, 34]))
    def a_leg_ends(self, place: int, cause: int) -> None:
        """Someone hangs up."""
        self.take(LegEnded(self.leg(place), cause), 500)

    @rule(
        place=PLACES,
        digit=some.sampled_from("0123456789*#"),
        held_ms=some.integers(-50, 5_000),
        on_main=some.booleans(),
    )
    def a_digit(self, place: int, digit: str, held_ms: int, on_main: bool) -> None:
        """Let a key go."""
        leg = self.story.call.main if on_main else self.leg(place)
        self.take(DigitPressed(leg, digit, self.story.now + 100 - held_ms), 100)

    @rule(place=PLACES, length_ms=some.integers(0, 3_000), is_over=some.booleans())
    def a_sound(self, place: int, length_ms: int, is_over: bool) -> None:
        """Say something, or have said it."""
        leg = self.leg(place)
        self.take(TalkEnded(leg, length_ms) if is_over else TalkStarted(leg), 200)

    @rule(is_right=some.booleans(), clips=some.sampled_from([(), CLIPS]))
    def media(self, is_right: bool, clips: tuple[Any, ...]) -> None:
        """Audio comes."""
        self.take(MediaFetched(self.request(is_right), clips), 300)

    @rule(is_right=some.booleans(), failed=some.booleans())
    def a_playback_ends(self, is_right: bool, failed: bool) -> None:
        """End a prompt."""
        self.take(PlaybackEnded(self.request(is_right), failed), 2_000)

    @rule(is_right=some.booleans(), answer=TREES)
    def a_reply(self, is_right: bool, answer: Any) -> None:
        """Answer anything, as a customer's server or a flow."""
        self.take(ActionReplied(self.request(is_right), parsed(answer)), 100)

    @rule(is_right=some.booleans())
    def no_reply(self, is_right: bool) -> None:
        """Fail, as a customer's server."""
        self.take(ActionFailed(self.request(is_right), "status_500"), 100)

    @rule(is_right=some.booleans())
    def no_bridge(self, is_right: bool) -> None:
        """Fail to join legs."""
        bridge = getattr(self.story.call.doing, "bridge", "none") if is_right else "other"
        self.take(BridgeFailed(bridge, "no"), 10)

    @rule()
    def a_hangup(self) -> None:
        """Someone asks for the end."""
        self.take(HangupRequested("api"), 10)

    @precondition(lambda self: not self.story.call.is_over)
    @rule()
    def time_passes(self) -> None:
        """Reach the call's deadline."""
        when = deadline_ms(self.story.call)
        assert when is not None
        self.take(DeadlinePassed(), max(0, when - self.story.now))

    @rule(gone=some.sets(some.integers(0, 3)), state=some.sampled_from(["Down", "Ringing", "Up"]))
    def a_crash(self, gone: set[int], state: str) -> None:
        """Kill the engine; another compares the call with what the PBX shows."""
        call = decode_call(encode(self.story.call))
        assert call == self.story.call
        legs = enumerate(call.legs)
        seen = Seen({leg.id: state for place, leg in legs if place not in gone})
        _, events = missed(call, tuple(self.story.commands[-3:]), seen, self.story.now)
        for event in events:
            self.take(event, 0)

    @invariant()
    def numbers_have_no_gaps(self) -> None:
        """Tell each fact once, numbered from 0, and the end last."""
        if not hasattr(self, "story"):
            return
        told = self.story.told
        assert [each.sequence_number for each in told] == list(range(len(told)))
        assert len({each.id for each in told}) == len(told)
        ends = [place for place, each in enumerate(told) if each.event == "completed"]
        assert ends == ([len(told) - 1] if self.story.call.is_over else [])

    @invariant()
    def no_leg_is_left_alone(self) -> None:
        """Hang up every leg that has no part in the call."""
        if not hasattr(self, "story"):
            return
        told = {each.leg for each in self.story.wanted(Hangup)}
        for leg in self.story.call.legs:
            assert expects(self.story.call, leg.id) or leg.id in told

    @invariant()
    def ids_are_used_once(self) -> None:
        """Every leg and every request has an id of its own."""
        if not hasattr(self, "story"):
            return
        asked = [each.leg for each in self.story.wanted(Originate)]
        bridges = {each.bridge for each in self.story.wanted(Bridge)}
        assert len(set(asked)) == len(asked)
        assert not bridges & set(asked)
        assert self.story.call.verbs <= MOST_VERBS

    def teardown(self) -> None:
        """At the end: the log told again gives the same call, and time alone ends it."""
        if not hasattr(self, "story"):
            return
        lines = [encode(Entry(now, event)) for now, event in self.story.events]
        moments = list(replay([encode(self.first), *lines]))
        assert moments[-1].call == self.story.call
        assert [each for at in moments for each in at.commands] == self.story.commands
        assert any(isinstance(each, Tell) for each in self.story.commands)
        for _ in range(500):
            if self.story.call.is_over:
                return
            self.time_passes()
        raise AssertionError("a call that only time can end did not end")


TestAnyStory = AnyStory.TestCase
TestAnyStory.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
