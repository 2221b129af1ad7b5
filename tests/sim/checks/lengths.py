"""A pause lasts as long as its verb says, and a play is heard as often as `loop` says.

Computed from the verb, the leg's holds and the audio on the PBX, not from the state's clocks.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from engine.calls.model.call import Call, is_held
from engine.calls.model.call_states import Pausing, Playing
from engine.calls.model.commands import Play
from engine.calls.model.events import DeadlinePassed, PlaybackEnded
from engine.calls.model.io_results import MediaFetched
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import AT_ONCE_MS
from tests.sim.world_view import WorldView
from wire import verbs

HOLD_MS = 150  # error of the position when a hold stops a playback
Interval = tuple[int, int, Call]


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every pause and every play that ended by itself."""
    for history in histories:
        for _, group in groupby(enumerate(history.intervals), lambda each: _run(each[1][2])):
            indexed = list(group)
            spans, last = [span for _, span in indexed], indexed[-1][0]
            state, ending = spans[0][2].state, history.steps[last + 1].event
            if isinstance(state, Pausing) and isinstance(ending, DeadlinePassed):
                message = _pause(world, state.verb, spans)
            elif isinstance(state, Playing) and isinstance(ending, PlaybackEnded):
                message = _rounds(world, history, state.verb, spans)
            else:
                message = None  # it was interrupted, or its audio was not available
            if message is not None:
                yield history.id, message


def _run(call: Call) -> tuple[str, int]:
    """Identify one run of a verb."""
    return type(call.state).__name__, call.verbs_started


def _pause(world: WorldView, verb: verbs.Pause, spans: list[Interval]) -> str | None:
    expected_ms = int(min(verb.data.length, verb.timeout or verb.data.length) * 1000)
    waited_ms = healthy_ms = 0.0
    for begin_ms, end_ms, call in spans:
        if not is_held(call, call.main):
            waited_ms += end_ms - begin_ms
            healthy_ms += world.faults.healthy_ms(begin_ms, end_ms)
    is_cut = spans[-1][1] >= spans[-1][2].must_end_ms
    if (waited_ms < expected_ms and not is_cut) or healthy_ms > expected_ms + AT_ONCE_MS:
        return f"a pause of {expected_ms} ms lasted {waited_ms:.0f} ms"
    return None


def _rounds(
    world: WorldView, history: CallHistory, verb: verbs.Verb, spans: list[Interval]
) -> str | None:
    begin_ms, end_ms = spans[0][0], spans[-1][1]
    if not isinstance(verb, verbs.Play) or world.faults.is_disturbed(begin_ms, end_ms):
        return None
    steps = [each for each in history.steps if begin_ms <= each.at_ms <= end_ms]
    requests = {call.state.request for *_, call in spans if isinstance(call.state, Playing)}
    plays = [c for s in steps for c in s.commands if isinstance(c, Play) and c.playback in requests]
    fetched = [s.event for s in steps if isinstance(s.event, MediaFetched)]
    clips = [each.clips for each in fetched if each.request in requests]
    playbacks = [world.pbx.heard.get(each.playback) for each in plays]
    if any(each is None or each.span is None or each.missing for each in playbacks):
        return None  # other checks report what was not heard
    heard_ms = sum(
        (each.span.end_ms or 0) - each.span.begin_ms for each in playbacks if each and each.span
    )
    expected_ms = verb.data.loop * sum(clip.duration_ms for each in clips[-1:] for clip in each)
    if abs(heard_ms - expected_ms) > HOLD_MS * len(plays):
        return f"{verb.data.loop} rounds of {expected_ms} ms were heard for {heard_ms:.0f} ms"
    return None
