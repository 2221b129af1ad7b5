"""Builders for the core's tests: a call gets events one by one, and time is set by hand."""

import json
from typing import Any, TypeVar

from engine.calls.model.call import Call
from engine.calls.model.call_states import Dialing, Starting
from engine.calls.model.commands import Command, EmitEvent
from engine.calls.model.events import (
    CallOpened,
    DeadlinePassed,
    DigitPressed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
)
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.leg import Leg
from engine.calls.states import deadline_ms
from engine.calls.step import step
from wire.base import tag_of
from wire.events.call_events import CallEvent
from wire.media import Clip
from wire.tree import Limits, parse_action
from wire.verbs import Action

ID = "0-pbx1-abcdefgh"
MAIN = f"{ID}.l0"
CHANNEL = "1700000000.7"  # as Asterisk names a channel that came in
NOW = 1_700_000_000_000
LONGEST_MS = 14_400_000
HTTPS = "https://example.com/a"
CLIPS = (Clip("c" * 32, 3_000), Clip("d" * 32, 1_000))
Kind = TypeVar("Kind")


def tree(verb: Any) -> Action:
    """Parse a tree as customers send it."""
    return parse_action(json.dumps(verb).encode(), Limits(sip_hosts=("example.com",)))


def say(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"type": "say", "data": {"text": text}, **more}


def outbound(action: Any = None, **fields: Any) -> Call:
    """Return an outbound call that has not been opened, with the caller id +4799."""
    leg = Leg(MAIN, "+4711111111", "requested", NOW, ring_timeout_s=30)
    parsed = None if action is None else tree(action)
    return Call(
        id=ID,
        account="acme",
        direction="outbound",
        from_="+4799",
        to="+4711111111",
        main=MAIN,
        legs=(leg,),
        state=Starting(parsed, NOW + 30_000),
        created_ms=NOW,
        must_end_ms=NOW + LONGEST_MS,
        caller_id="+4799",
        id_seq=1,
        **fields,
    )


def inbound(action: Any = None, **fields: Any) -> Call:
    """Return an inbound call that has not been opened."""
    leg = Leg(CHANNEL, "+4722222222", "created", NOW)
    return Call(
        id=ID,
        account="acme",
        direction="inbound",
        from_="+4722222222",
        to="+4733333333",
        main=CHANNEL,
        legs=(leg,),
        state=Starting(None if action is None else tree(action), NOW + 10_000),
        created_ms=NOW,
        must_end_ms=NOW + LONGEST_MS,
        caller_kind="trunk",
        **fields,
    )


class Story:
    """A call, the time, and all commands so far."""

    def __init__(self, call: Call, now: int = NOW) -> None:
        self.call = call
        self.now = now
        self.events: list[tuple[int, Event]] = []
        self.commands: list[Command] = []

    def take(self, event: Event, after_ms: int = 0) -> tuple[Command, ...]:
        """Apply an event, so long after the last one; returns the commands without EmitEvent."""
        self.now += after_ms
        self.events.append((self.now, event))
        self.call, commands = step(self.call, event, self.now)
        self.commands += commands
        return tuple(each for each in commands if not isinstance(each, EmitEvent))

    def pass_deadline(self) -> tuple[Command, ...]:
        """Set the time to the call's deadline and apply DeadlinePassed."""
        when = deadline_ms(self.call)
        assert when is not None, "an ended call has no deadline"
        self.now = max(self.now, when)
        return self.take(DeadlinePassed())

    def press(self, digit: str, after_ms: int = 200, held_ms: int = 80) -> tuple[Command, ...]:
        """Press a digit on the main leg; it is reported at key-up."""
        pressed = DigitPressed(self.call.main, digit, self.now + after_ms - held_ms, held_ms)
        return self.take(pressed, after_ms)

    def deliver_media(self, clips: tuple[Clip, ...] = CLIPS) -> tuple[Command, ...]:
        """Deliver the audio that the state waits for."""
        return self.take(MediaFetched(self.state_as(WithRequest).request, clips))

    def hang_up(self, cause: int = 16) -> tuple[Command, ...]:
        return self.take(LegEnded(self.call.main, cause), 100)

    def state_as(self, kind: type[Kind]) -> Kind:
        """Return the call's state, which must be of this kind."""
        if not issubclass(kind, WithRequest):
            assert isinstance(self.call.state, kind), self.call.state
        return self.call.state  # type: ignore[return-value]  # checked, or has a `request`

    def leg(self, leg_id: str) -> Leg:
        """Return a live leg, which must exist."""
        found = self.call.leg(leg_id)
        assert found is not None, leg_id
        return found

    @property
    def state(self) -> str:
        """Return the tag of the call's state."""
        return tag_of(self.call.state)

    @property
    def status(self) -> str:
        return self.call.status

    @property
    def emitted(self) -> list[CallEvent]:
        """The emitted events."""
        return [each.event for each in self.commands if isinstance(each, EmitEvent)]

    def commands_of(self, kind: type[Kind]) -> list[Kind]:
        """Return the commands of a type."""
        return [each for each in self.commands if isinstance(each, kind)]


class WithRequest:
    """Any state with a `request`."""

    request: str


def answered_call(action: Any = None, **fields: Any) -> Story:
    """Return an outbound call, answered after 5 s, whose first verb has started."""
    story = Story(outbound(action, **fields))
    story.take(CallOpened())
    story.take(LegCreated(MAIN))
    story.take(LegAnswered(MAIN), 5_000)
    return story


def dialing_call(*numbers: str, **more: Any) -> Story:
    """Return a call that dials numbers, or one agent when no number is given."""
    data = more.pop("data", {"agent_id": "7"} if not numbers else {"number": list(numbers)})
    fields = {"labels": more.pop("labels")} if "labels" in more else {}
    return answered_call({"type": "dial", "data": data, **more}, **fields)


def bridged_call(*numbers: str, **more: Any) -> Story:
    """Return a call whose first dialed leg has answered after another 2 s."""
    story = dialing_call(*numbers, **more)
    story.take(LegAnswered(story.state_as(Dialing).legs[0]), 2_000)
    return story
