"""A sound pauses or ends a prompt as `bargeIn` says; a paused prompt soon continues, or ends."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import PausePlayback, Play
from engine.calls.model.events import PlaybackEnded
from engine.calls.verbs.suspendable_playback import length_ms
from tests.harness.sim.model import SimPlayback
from tests.sim.call_histories import CallHistory
from tests.sim.checks.speech.gathers import SpeechGather, is_reported, overlaps
from tests.sim.intervals import Interval
from tests.sim.world_view import WorldView

PAUSE_MS = 400  # the longest that a gateway means
UNREPORTED_PAUSE_MS = 1_000  # the longest without a word of the gateway
SLACK_MS = 150
HOLD_MS = 60  # error of the position when a hold stops a playback, and of its lead-in
PAUSE_ERROR_MS = 30  # what Asterisk plays again whenever a playback continues
OBEYS_MS = 50  # from a report to the PBX


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every pause of every playback, and who caused it."""
    for playback in world.pbx.heard.values():
        for begin_ms, end_ms in _pauses(world, playback):
            report_ms = (begin_ms, begin_ms + PAUSE_MS + SLACK_MS)
            is_cut = overlaps(report_ms, world.gateway_cuts)
            longest_ms = (UNREPORTED_PAUSE_MS if is_cut else PAUSE_MS) + SLACK_MS
            if world.faults.healthy_ms(begin_ms, end_ms) > longest_ms:
                yield (
                    playback.channel.id,
                    f"{playback.id} was paused for {end_ms - begin_ms:.0f} ms",
                )
    for history in histories:
        for before, step in pairwise(history.steps):
            state = before.call.state
            may_pause = isinstance(state, Gathering) and state.verb.data.barge_in == "pause"
            if not may_pause and any(isinstance(each, PausePlayback) for each in step.commands):
                yield history.id, f"paused a prompt in {state}"


def _pauses(world: WorldView, playback: SimPlayback) -> list[Interval]:
    if playback.paused_ms is None:
        return playback.pauses
    return [*playback.pauses, (playback.paused_ms, world.clock.at_ms)]


def disobeyed(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Find sounds that did not do to the prompt what they had to."""
    prompts = {state.request: state for *_, state in gather.intervals if state.phase == "prompt"}
    for recognizer in gather.recognizers(world):
        for outcome, at_ms in recognizer.interruptions:
            if not is_reported(world, at_ms, at_ms + OBEYS_MS):
                continue
            for name in prompts:
                playback = world.pbx.heard.get(name)
                if playback is not None and not _obeys(playback, outcome, at_ms):
                    yield f"{name} went on when it was to be {outcome} at {at_ms}"


def cut_short(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Find a prompt that ended by itself, but was not heard to its end, however often it paused."""
    states = [(before.call.state, step) for before, step in pairwise(gather.steps)]
    prompts = [(s, step) for s, step in states if isinstance(s, Gathering) and s.phase == "prompt"]
    if not prompts:
        return
    state, ending = prompts[-1]
    is_ended = isinstance(ending.event, PlaybackEnded) and not ending.event.failed
    if not is_ended or world.faults.is_disturbed(gather.steps[0].at_ms, ending.at_ms):
        return
    commands = [command for step in gather.steps for command in step.commands]
    plays = [each.playback for each in commands if isinstance(each, Play)]
    heard = [each for name in plays if (each := world.pbx.heard.get(name)) is not None]
    heard_ms = sum(each.heard_ms for each in heard)
    expected_ms = length_ms(state.clips)
    error_ms = HOLD_MS * len(plays) + PAUSE_ERROR_MS * sum(len(each.pauses) for each in heard)
    if any(each.missing for each in heard):
        return  # other checks report what was not heard
    if abs(heard_ms - expected_ms) > error_ms:
        yield f"a prompt of {expected_ms} ms was heard for {heard_ms:.0f} ms"


def _obeys(playback: SimPlayback, outcome: str, at_ms: float) -> bool:
    """Return whether a prompt that was heard at a time was paused, or ended, or continued."""
    if playback.span is None or playback.span.begin_ms > at_ms:
        return True  # it was not heard yet
    if playback.ended_ms is not None and playback.ended_ms <= at_ms + OBEYS_MS:
        return True
    pauses = [*playback.pauses, *([(playback.paused_ms, at_ms)] if playback.paused_ms else [])]
    match outcome:
        case "paused":
            return any(begin <= at_ms + OBEYS_MS and end >= at_ms for begin, end in pauses)
        case "resumed":
            return not any(begin <= at_ms and end > at_ms + OBEYS_MS for begin, end in pauses)
        case _:
            return False
