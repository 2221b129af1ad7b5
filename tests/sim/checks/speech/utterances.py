"""A gather waits for a caller who speaks, for as long as an utterance and its transcript take."""

from collections.abc import Iterator

from engine.calls.media.streams import recognizer_of
from engine.calls.model.call import Call
from engine.calls.model.events import DeadlinePassed, Recovered
from engine.calls.model.stream_events import StreamSpeechChanged
from tests.sim.checks.speech.gathers import SpeechGather, is_reported
from tests.sim.intervals import merge
from tests.sim.world_view import WorldView

TRANSCRIPT_MS = 10_000  # from the end of an utterance
SLACK_MS = 150
UNSTORED_MS = 300  # until the beginning of an utterance is stored
GRACE_MS = 120


def check(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Check the end of a gather by its clock, and its waits for transcripts."""
    yield from _interrupted(world, gather)
    yield from _endless(world, gather)
    yield from _hopeless(world, gather)


def _interrupted(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    end_ms, (*_, call, state) = gather.last.at_ms, gather.intervals[-1]
    is_timeout = isinstance(gather.last.event, DeadlinePassed)
    if not is_timeout or end_ms >= min(state.limit_ms - GRACE_MS, call.must_end_ms):
        return
    for recognizer in gather.recognizers(world):
        stream = call.stream(recognizer.stream)
        if stream is None or stream.is_lost or recognizer.is_hung:
            continue
        for each in recognizer.utterances:
            began_ms = each.began_ms
            is_noticed = is_reported(world, began_ms, began_ms + UNSTORED_MS)
            is_over = each.ended_ms is not None and each.ended_ms < end_ms
            if began_ms + UNSTORED_MS < end_ms and is_noticed and not is_over:
                yield f"gave up while the caller spoke, for {end_ms - began_ms} ms"


def _endless(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    longest_ms = gather.data.endpointing.max_ms + TRANSCRIPT_MS + SLACK_MS
    since_ms = 0
    for step, (begin_ms, end_ms, _, state) in zip(gather.steps, gather.intervals, strict=False):
        is_restart = isinstance(step.event, StreamSpeechChanged | Recovered)
        if state.phase != "speech":
            since_ms = 0
            continue
        since_ms = begin_ms if is_restart or not since_ms else since_ms
        if world.faults.healthy_ms(since_ms, end_ms) > longest_ms:
            yield f"waited {end_ms - since_ms} ms for a transcript"


def _hopeless(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Find waits for the transcript of a recognizer that has ended."""
    waits = merge(
        (begin, end)
        for begin, end, call, state in gather.intervals
        if state.utterances and not _has_heard(world, call, begin)
    )
    for begin_ms, end_ms in waits:
        if world.faults.healthy_ms(begin_ms, end_ms) > SLACK_MS:
            yield f"waited {end_ms - begin_ms:.0f} ms for a recognizer that has ended"


def _has_heard(world: WorldView, call: Call, at_ms: float) -> bool:
    """Return whether the recognizer of a call is there, and has heard somebody speak."""
    stream = recognizer_of(call)
    recognizer = world.recognizers.get(stream.id) if stream is not None else None
    if stream is None or stream.is_lost or recognizer is None:
        return False
    return any(each.began_ms <= at_ms for each in recognizer.utterances)
