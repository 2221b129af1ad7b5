"""A transcript ends the gather whose recognizer made it, and no other, with exactly its text."""

from collections.abc import Iterator, Sequence

import msgspec

from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.stream_events import SpeechUnderstood
from tests.sim.checks.speech.gathers import REPORT_MS, SpeechGather, is_in_gap, is_reported
from tests.sim.world_view import WorldView
from wire.streams.reports import Transcribed
from wire.webhooks import GatherReason

AT_ONCE_MS = 30  # from a transcript to the end of its gather, without faults
GRAMMAR_CONFIDENCE = 0.5  # that it needs, if the customer says nothing
NOISE_CONFIDENCE = 0.5  # that a sound needs which was no voice
RECOVERED_MS = 1_000  # time without faults after which a transcript of an outage is known

_result = msgspec.json.Decoder(dict[str, object]).decode


def check(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Check what a gather made of its transcripts, and that it ended by none of another."""
    yield from _unfounded(world, gather)
    for recognizer in gather.recognizers(world):
        repeated = [each for each in recognizer.transcripts if not each.is_noise][-1:]
        for each in recognizer.transcripts:
            reason = _reason(gather, each)
            if _follows_another(gather, each, recognizer.transcripts):
                continue
            if reason and _is_awaited(gather, each):
                is_repeated = each in repeated
                yield from _unused(world, gather, each, reason, is_repeated=is_repeated)


def _is_awaited(gather: SpeechGather, transcript: Transcribed) -> bool:
    """Whether the gather still has its recognizer when the transcript arrives: a hold ends it."""
    call = gather.call_at(transcript.at_ms)
    if call is None or call.stream(transcript.stream) is None:
        return False
    later = gather.call_at(transcript.at_ms + REPORT_MS)
    return later is None or later.stream(transcript.stream) is not None


def _follows_another(
    gather: SpeechGather, transcript: Transcribed, transcripts: Sequence[Transcribed]
) -> bool:
    """Whether the gather was ended by another transcript, of the same moment or before."""
    event = gather.last.event
    return isinstance(event, SpeechUnderstood) and any(
        (each.text, each.confidence, each.at_ms) == (event.text, event.confidence, event.at_ms)
        for each in transcripts
        if each != transcript and each.at_ms <= transcript.at_ms
    )


def _reason(gather: SpeechGather, transcript: Transcribed) -> GatherReason | None:
    """Return how a transcript ends its gather, if it does."""
    data = gather.data
    least = data.min_confidence
    if least is None:
        least = GRAMMAR_CONFIDENCE if data.recognizer == "grammar" else 0.0
    if not transcript.is_voice:
        least = max(least, NOISE_CONFIDENCE)
    if transcript.text and transcript.confidence >= least:
        return "speech"
    return "no-match" if transcript.is_voice else None


def _unused(
    world: WorldView,
    gather: SpeechGather,
    transcript: Transcribed,
    reason: GatherReason,
    *,
    is_repeated: bool,
) -> Iterator[str]:
    """Find a transcript that did not end its gather."""
    at_ms, end_ms, event = transcript.at_ms, gather.last.at_ms, gather.event
    is_its_end = isinstance(gather.last.event, SpeechUnderstood) and event is not None
    is_at_once = is_reported(world, at_ms, at_ms + AT_ONCE_MS)
    if end_ms <= at_ms + REPORT_MS and not is_its_end:
        return  # something else came first
    if not is_at_once and not (is_repeated and _is_known_by(world, gather, transcript)):
        return
    outcome = (event.reason, event.speech, event.confidence) if event else ()
    if outcome != (reason, transcript.text, transcript.confidence):
        yield f"{transcript} was understood, but its gather ended by {outcome or 'no event'}"
    elif is_at_once and end_ms > at_ms + AT_ONCE_MS:
        yield f"{transcript} ended its gather after {end_ms - at_ms} ms"


def _is_known_by(world: WorldView, gather: SpeechGather, transcript: Transcribed) -> bool:
    """Return whether a gather must know a transcript that came during a fault.

    Its gateway repeats the last one that was no noise, as long as it has the stream.
    """
    at_ms, end_ms, stream = transcript.at_ms, gather.last.at_ms, transcript.stream
    ended = world.recognizers[stream].ended
    is_there = ended is None or ended.at_ms > end_ms
    is_kept = all(
        call.stream(stream) is not None for _, end, call, _ in gather.intervals if end > at_ms
    )
    is_back = not is_in_gap(world, (end_ms - RECOVERED_MS, end_ms))
    return is_there and is_kept and is_back and _healthy_ms(world, at_ms, end_ms) > RECOVERED_MS


def _healthy_ms(world: WorldView, begin_ms: float, end_ms: float) -> float:
    away_ms = sum(
        max(0.0, min(end, end_ms) - max(begin, begin_ms)) for begin, end in world.gateway_gaps
    )
    return world.faults.healthy_ms(begin_ms, end_ms) - away_ms


def _unfounded(world: WorldView, gather: SpeechGather) -> Iterator[str]:
    """Find a gather that ended by words that nobody said to its recognizers."""
    event, last = gather.event, gather.last
    if event is None or event.reason not in {"speech", "no-match"}:
        return
    understood = [
        (_reason(gather, each), each.text, each.confidence)
        for recognizer in gather.recognizers(world)
        for each in recognizer.transcripts
    ]
    outcome = (event.reason, event.speech, event.confidence)
    if outcome not in understood:
        yield f"ended by {outcome}, of which its recognizers know nothing"
    if event.dtmf:
        yield f"gathered {event.dtmf!r} and ended by {event.reason}"
    for command in last.commands:
        if isinstance(command, SendWebhook) and command.url == gather.verb.action:
            body = _result(command.body)
            sent = (body.get("reason"), body.get("speech"), body.get("confidence"))
            if sent != outcome:
                yield f"ended by {outcome}, but its webhook says {sent}"
