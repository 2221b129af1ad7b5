"""A sound pauses or ends a prompt as `bargeIn` says; a paused prompt soon continues, or ends."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import PausePlayback
from tests.harness.sim.model import SimPlayback
from tests.sim.call_histories import CallHistory
from tests.sim.checks.speech.gathers import SpeechGather, is_in_gap, is_reported
from tests.sim.intervals import Interval
from tests.sim.world_view import WorldView

PAUSE_MS = 400  # the longest that a gateway means
UNREPORTED_PAUSE_MS = 1_000  # the longest without a word of the gateway
SLACK_MS = 150
OBEYS_MS = 50  # from a report to the PBX


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every pause of every playback, and who caused it."""
    for playback in world.pbx.heard.values():
        for begin_ms, end_ms in _pauses(world, playback):
            is_reporting = not is_in_gap(world, (begin_ms, begin_ms + PAUSE_MS + SLACK_MS))
            longest_ms = (PAUSE_MS if is_reporting else UNREPORTED_PAUSE_MS) + SLACK_MS
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
