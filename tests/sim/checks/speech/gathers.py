"""The gathers of a call that understand speech, each with its steps and its recognizers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import EmitEvent
from engine.calls.model.stream_commands import StartStream
from engine.calls.replay_audit import ReplayStep
from tests.harness.sim.streams.recognizers import SimRecognizer
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval
from tests.sim.world_view import WorldView
from wire.events.call_events import CallEvent
from wire.verbs import Gather, GatherData

REPORT_MS = 2  # until an engine has a report, without faults


class SpeechGather(Struct, frozen=True):
    """One gather that understands speech, from the step that began it to the one that ended it."""

    verb: Gather
    leg: str
    steps: tuple[ReplayStep, ...]
    streams: tuple[str, ...]  # of its recognizers, in order
    event: CallEvent | None  # of its end

    @property
    def data(self) -> GatherData:
        return self.verb.data

    @property
    def last(self) -> ReplayStep:
        """The step that ended it."""
        return self.steps[-1]

    @property
    def intervals(self) -> Sequence[tuple[int, int, Call, Gathering]]:
        """The begin, end, call and state of every step but the last."""
        return [
            (step.at_ms, after.at_ms, step.call, step.call.state)
            for step, after in pairwise(self.steps)
            if isinstance(step.call.state, Gathering)
        ]

    def call_at(self, at_ms: float) -> Call | None:
        """Return the call at a time in which the gather ran."""
        return next((call for begin, end, call, _ in self.intervals if begin <= at_ms < end), None)

    def recognizers(self, world: WorldView) -> list[SimRecognizer]:
        """Return the recognizers that a gateway has had for it."""
        return [world.recognizers[each] for each in self.streams if each in world.recognizers]


def is_reported(world: WorldView, begin_ms: float, end_ms: float) -> bool:
    """Return whether engines get what gateways report in an interval."""
    interval = (begin_ms - REPORT_MS, end_ms + REPORT_MS)
    return not world.faults.is_disturbed(*interval) and not is_in_gap(world, interval)


def is_in_gap(world: WorldView, interval: Interval) -> bool:
    """Return whether a gateway was away, or could not report, at any time of an interval."""
    return overlaps(interval, world.gateway_gaps)


def overlaps(interval: Interval, others: Iterable[Interval]) -> bool:
    """Return whether an interval has a time in common with any other."""
    begin_ms, end_ms = interval
    return any(begin <= end_ms and end >= begin_ms for begin, end in others)


def speech_gathers(history: CallHistory) -> Iterator[SpeechGather]:
    """Yield the gathers of a call that understand speech and have ended."""
    steps: list[ReplayStep] = []
    for step in history.steps:
        if steps:
            steps.append(step)
            if _run(step.call) != _run(steps[0].call):
                yield _gather(steps)
                steps = []
        state = step.call.state
        if not steps and isinstance(state, Gathering) and state.verb.data.hears_speech:
            steps = [step]


def _run(call: Call) -> tuple[bool, int, int]:
    """Identify one run of a verb."""
    return isinstance(call.state, Gathering), call.verbs_since_ms, call.verbs_started


def _gather(steps: list[ReplayStep]) -> SpeechGather:
    state = steps[0].call.state
    assert isinstance(state, Gathering)
    commands = [command for step in steps[:-1] for command in step.commands]
    # What follows it may have a recognizer of its own.
    streams = [c.stream for c in commands if isinstance(c, StartStream) and c.recognition]
    emitted = (each.event for each in steps[-1].commands if isinstance(each, EmitEvent))
    event = next((each for each in emitted if each.event == "gathered"), None)
    return SpeechGather(state.verb, state.leg, tuple(steps), tuple(streams), event)
