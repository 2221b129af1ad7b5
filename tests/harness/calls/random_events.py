"""Random events of every call: legs progress and end, and time passes."""

from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from engine.calls.model.events import (
    DeadlinePassed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
)
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import Story

PLACES = some.integers(0, 99)


class RandomEvents(RuleBasedStateMachine):
    """Base class; subclasses apply events and choose legs."""

    story: Story

    def take(self, event: Event, after_ms: int = 300) -> None:
        """Apply an event and check the invariants."""
        raise NotImplementedError

    def leg(self, place: int) -> str:
        """Return a leg, usually a live one."""
        raise NotImplementedError

    @rule(place=PLACES, kind=some.sampled_from([LegCreated, LegRinging, LegAnswered, LegAnswered]))
    def a_leg_moves(self, place: int, kind: type[LegCreated]) -> None:
        self.take(kind(self.leg(place)))

    @rule(place=PLACES, cause=some.sampled_from([0, 16, 17, 19, 21, 34]))
    def a_leg_ends(self, place: int, cause: int) -> None:
        self.take(LegEnded(self.leg(place), cause))

    @precondition(lambda self: not self.story.call.is_ended)
    @rule()
    def time_passes(self) -> None:
        when = deadline_ms(self.story.call)
        assert when is not None, "every state that waits has a deadline"
        self.take(DeadlinePassed(), max(0, when - self.story.now))
