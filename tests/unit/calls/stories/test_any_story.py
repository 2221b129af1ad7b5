"""Random stories: the invariants of every call."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import initialize, invariant, rule
from msgspec.structs import replace

from engine.calls.model.call import Call, is_expected
from engine.calls.model.call_states import Dialing
from engine.calls.model.commands import AddToBridge, EmitEvent, Hangup, Originate
from engine.calls.model.events import (
    BridgeFailed,
    CallOpened,
    DigitPressed,
    Event,
    PlaybackEnded,
    TalkEnded,
    TalkStarted,
)
from engine.calls.model.io_results import ActionFailed, ActionReceived, MediaFetched
from engine.calls.model.requests import HangupRequested
from engine.calls.model.storage_format import LogEntry, decode_call, encode
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from engine.calls.replay_audit import replay
from engine.calls.verbs.registry import MAX_VERBS
from tests.harness.calls.builders import CLIPS, HTTPS, ID, Story, inbound, outbound, tree
from tests.harness.calls.invariants import assert_sound
from tests.harness.calls.random_events import PLACES, RandomEvents
from tests.harness.calls.random_trees import TREES
from wire.answer_detection import Detection
from wire.verbs import Action

ON_MACHINE = some.sampled_from([None, "continue", "hangup", HTTPS])


def parsed(verb: Any) -> Action | None:
    return None if verb is None else tree(verb)


class AnyStory(RandomEvents):
    """A call that gets any event in any order, late, twice or wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Call

    @initialize(
        tree=TREES, is_inbound=some.booleans(), rings=some.booleans(), on_machine=ON_MACHINE
    )
    def begin(self, tree: Any, is_inbound: bool, rings: bool, on_machine: str | None) -> None:
        """Open a call with any tree, in either direction, with answer detection or without.

        An inbound call may ring before it is answered.
        """
        self.first = inbound(tree, answer_deferred=rings) if is_inbound else outbound(tree)
        if on_machine is not None:
            starting = replace(self.first.state, detection=Detection(), on_machine=on_machine)
            self.first = replace(self.first, state=starting)
        self.story = Story(self.first)
        self.take(CallOpened(), 0)

    def take(self, event: Event, after_ms: int = 500) -> None:
        """Apply an event and check the invariants."""
        was_ended = self.story.call.is_ended
        commands = self.story.take(event, after_ms)
        assert_sound(self.story.call, commands, self.story.now)
        if was_ended:
            assert all(isinstance(each, Hangup) for each in commands)

    def leg(self, place: int) -> str:
        """Return a leg: usually a live one, or one that was originated, or an unknown one."""
        originated = [each.leg for each in self.story.commands_of(Originate)]
        legs = [
            *[leg.id for leg in self.story.call.legs],
            *originated,
            self.first.main,
            f"{ID}.l999",
        ]
        return legs[place % len(legs)]

    def request(self, is_right: bool) -> str:
        """Return the request that the call waits for, or another."""
        state = self.story.call.state
        if isinstance(state, Dialing) and state.screenings:
            return str(getattr(state.screenings[-1].state, "request", "none"))
        return str(getattr(state, "request", "none")) if is_right else "other"

    @rule(
        place=PLACES,
        digit=some.sampled_from("0123456789*#"),
        held_ms=some.integers(-50, 5_000),
        on_main=some.booleans(),
    )
    def a_digit(self, place: int, digit: str, held_ms: int, on_main: bool) -> None:
        leg = self.story.call.main if on_main else self.leg(place)
        self.take(DigitPressed(leg, digit, self.story.now + 100 - held_ms), 100)

    @rule(place=PLACES, length_ms=some.integers(0, 3_000), has_ended=some.booleans())
    def a_sound(self, place: int, length_ms: int, has_ended: bool) -> None:
        leg = self.leg(place)
        self.take(TalkEnded(leg, length_ms) if has_ended else TalkStarted(leg), 200)

    @rule(is_right=some.booleans(), clips=some.sampled_from([(), CLIPS]))
    def media(self, is_right: bool, clips: tuple[Any, ...]) -> None:
        self.take(MediaFetched(self.request(is_right), clips), 300)

    @rule(is_right=some.booleans(), failed=some.booleans())
    def a_playback_ends(self, is_right: bool, failed: bool) -> None:
        self.take(PlaybackEnded(self.request(is_right), failed), 2_000)

    @rule(is_right=some.booleans(), answer=TREES)
    def a_reply(self, is_right: bool, answer: Any) -> None:
        """Return any action from a webhook or a flow."""
        self.take(ActionReceived(self.request(is_right), parsed(answer)), 100)

    @rule(is_right=some.booleans())
    def no_reply(self, is_right: bool) -> None:
        self.take(ActionFailed(self.request(is_right), "status_500"), 100)

    @rule(is_right=some.booleans())
    def no_bridge(self, is_right: bool) -> None:
        bridge = getattr(self.story.call.state, "bridge", "none") if is_right else "other"
        self.take(BridgeFailed(bridge, "no"), 10)

    @rule()
    def a_hangup(self) -> None:
        self.take(HangupRequested("api"), 10)

    @rule(
        missing=some.sets(some.integers(0, 3)), state=some.sampled_from(["Down", "Ringing", "Up"])
    )
    def a_crash(self, missing: set[int], state: str) -> None:
        """Restart the engine, which reconciles the call with the PBX."""
        call = decode_call(encode(self.story.call))
        assert call == self.story.call
        legs = enumerate(call.legs)
        pbx = PbxSnapshot({leg.id: state for place, leg in legs if place not in missing})
        _, events = reconcile(call, tuple(self.story.commands[-3:]), pbx, self.story.now)
        for event in events:
            self.take(event, 0)

    @invariant()
    def numbers_have_no_gaps(self) -> None:
        """Each event is emitted once, numbered from 0, and `completed` is the last."""
        emitted = self.story.emitted
        assert [each.sequence_number for each in emitted] == list(range(len(emitted)))
        assert len({each.id for each in emitted}) == len(emitted)
        ends = [place for place, each in enumerate(emitted) if each.event == "completed"]
        assert ends == ([len(emitted) - 1] if self.story.call.is_ended else [])

    @invariant()
    def unexpected_legs_are_hung_up(self) -> None:
        """Hang up every leg without a role in the call."""
        hung_up = {each.leg for each in self.story.commands_of(Hangup)}
        for leg in self.story.call.legs:
            assert is_expected(self.story.call, leg.id) or leg.id in hung_up

    @invariant()
    def ids_are_used_once(self) -> None:
        """Every leg and every bridge has its own id."""
        originated = [each.leg for each in self.story.commands_of(Originate)]
        bridges = {each.bridge for each in self.story.commands_of(AddToBridge)}
        assert len(set(originated)) == len(originated)
        assert not bridges & set(originated)
        assert self.story.call.verbs_started <= MAX_VERBS

    def teardown(self) -> None:
        """At the end: replaying the log gives the same call, and time alone ends the call."""
        if not hasattr(self, "story"):
            return
        lines = [encode(LogEntry(now, event)) for now, event in self.story.events]
        steps = list(replay([encode(self.first), *lines]))
        assert steps[-1].call == self.story.call
        assert [each for step in steps for each in step.commands] == self.story.commands
        assert any(isinstance(each, EmitEvent) for each in self.story.commands)
        for _ in range(500):
            if self.story.call.is_ended:
                return
            self.time_passes()
        raise AssertionError("a call that only time can end did not end")


TestAnyStory = AnyStory.TestCase
TestAnyStory.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
