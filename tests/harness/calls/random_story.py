"""Random stories of a call: events, results and outages in any order."""

from typing import Any

from hypothesis import strategies as some
from hypothesis.stateful import initialize, rule

from engine.calls.model.call import is_expected
from engine.calls.model.commands import Hangup, Originate, Play, Snoop
from engine.calls.model.events import (
    BridgeFailed,
    CallOpened,
    DigitPressed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    PlaybackEnded,
    Recovered,
)
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived, MediaFetched
from engine.calls.model.requests import ControlRequest
from engine.calls.model.storage_format import StoredCall, decode_stored_call, encode
from engine.calls.sessions.preconditions import check_request
from tests.harness.calls.builders import CLIPS, HTTPS, MAIN, Story, outbound, say, tree
from tests.harness.calls.control import BOB, CAROL
from tests.harness.calls.pbx_model import PbxModel
from tests.harness.calls.random_events import PLACES, RandomEvents
from tests.harness.record_checks import record_faults

DIAL = {"type": "dial", "data": {"number": [BOB, CAROL]}, "action": say(action=HTTPS)}
TREES = [
    say(action=DIAL),
    DIAL,
    HTTPS,
    {"type": "gather", "data": {"audioUrl": HTTPS}, "action": DIAL},
]


class RandomStory(RandomEvents):
    """A call, a model of its PBX, and random phones, servers and outages."""

    @initialize(verb=some.sampled_from(TREES))
    def begin(self, verb: Any) -> None:
        self.story = Story(outbound(verb))
        self.pbx = PbxModel()
        for event in (CallOpened(), LegCreated(MAIN), LegAnswered(MAIN)):
            self.take(event)

    def take(self, event: Event, after_ms: int = 300) -> None:
        """Apply an event, run the commands, and check the invariants."""
        before, refusal = self.story.call, self.is_rejected(event)
        if isinstance(event, PlaybackEnded):
            self.pbx.playback_ended(event.playback)
        if isinstance(event, LegEnded):
            self.pbx.leg_ended(event.leg)
        start = len(self.story.commands)
        self.story.take(event, after_ms)
        commands = self.story.commands[start:]
        if refusal:
            assert self.story.call is before
            assert not commands
        for command in commands:
            self.pbx.do(command)
            if isinstance(command, Hangup):
                assert not is_expected(self.story.call, command.leg), (
                    "what is wanted is not hung up"
                )
        stored = StoredCall(self.story.call, tuple(commands))
        assert decode_stored_call(encode(stored)) == stored
        if self.story.call.is_ended:
            assert not list(record_faults(self.story.emitted))

    def is_rejected(self, event: Event) -> bool:
        """Return whether an event is a request that is rejected."""
        return (
            isinstance(event, ControlRequest) and check_request(self.story.call, event) is not None
        )

    def leg(self, place: int) -> str:
        """Return a leg, usually a live one, or a snoop."""
        snoops = [each.snoop for each in self.story.commands_of(Snoop)]
        made = [each.leg for each in self.story.commands_of(Originate)]
        legs = [*(leg.id for leg in self.story.call.legs), *snoops[-1:], *made[-1:], MAIN]
        return legs[place % len(legs)]

    @rule()
    def the_answer(self) -> None:
        """Answer the last leg that is being called."""
        waiting = [leg.id for leg in self.story.call.legs if leg.state != "up"]
        if waiting:
            self.take(LegAnswered(waiting[-1]))

    @rule()
    def hung_up_legs_end(self) -> None:
        """End the legs that were hung up."""
        for leg in {each.leg for each in self.story.commands_of(Hangup)}:
            if self.story.call.leg(leg) is not None:
                self.take(LegEnded(leg, 16), 20)

    @rule(place=PLACES, clips=some.sampled_from([(), CLIPS]))
    def media(self, place: int, clips: Any) -> None:
        requests = self.story.commands_of(FetchMedia)
        if requests:
            self.take(MediaFetched(requests[-1 - place % len(requests)].request, clips))

    @rule(failed=some.booleans())
    def a_playback_ends(self, failed: bool) -> None:
        """End the last playback."""
        played = self.story.commands_of(Play)
        if played:
            self.take(PlaybackEnded(played[-1].playback, failed), 2_000)

    @rule(verb=some.sampled_from([None, *TREES]), fails=some.booleans())
    def a_reply(self, verb: Any, fails: bool) -> None:
        """Answer the last webhook, or fail it."""
        requests = self.story.commands_of(SendWebhook)
        if requests and fails:
            self.take(ActionFailed(requests[-1].request, "status_500"))
        elif requests:
            self.take(ActionReceived(requests[-1].request, None if verb is None else tree(verb)))

    @rule(digit=some.sampled_from("1#"))
    def a_digit(self, digit: str) -> None:
        self.take(DigitPressed(self.story.call.main, digit, self.story.now))

    @rule(place=PLACES)
    def no_bridge(self, place: int) -> None:
        """Fail to add a leg to its bridge."""
        leg = self.leg(place)
        bridge = self.pbx.bridge.pop(leg, None)
        if bridge is not None:
            self.take(BridgeFailed(bridge, "no", (leg,)))

    @rule(places=some.sets(PLACES))
    def an_outage(self, places: set[int]) -> None:
        """Recover the call; some legs have left their bridges."""
        for place in places:
            self.pbx.bridge.pop(self.leg(place), None)
        self.take(Recovered(tuple(self.pbx.bridge.items())))
