"""The streams of a call: what is known of each, and the commands that end them."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.commands import Hangup
from engine.calls.model.events import Event, LegCreated, LegEnded
from engine.calls.model.stream_commands import SendToStream, StopStream
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamConnected,
    StreamEnded,
    StreamInterrupted,
    StreamMarkReached,
    StreamSpeechChanged,
)
from engine.calls.model.streams import Stream
from wire.streams.setup import StreamMessage


def with_stream(call: Call, stream: Stream) -> Call:
    """Replace the stream with the same id."""
    streams = tuple(stream if each.id == stream.id else each for each in call.streams)
    return replace(call, streams=streams)


def without_stream(call: Call, stream_id: str) -> Call:
    """Remove a stream."""
    return replace(call, streams=tuple(each for each in call.streams if each.id != stream_id))


def recognizer_of(call: Call) -> Stream | None:
    """Return the stream of the recognizer that listens for the call's gather."""
    return next((each for each in call.streams if each.is_recognizer), None)


def track_stream(call: Call, event: Event, now: int) -> Call:
    """Store what an event tells about one of the call's streams."""
    stream = _subject(call, event)
    if stream is None:
        return call
    return with_stream(call, _apply(stream, event, now))


def _subject(call: Call, event: Event) -> Stream | None:
    match event:
        case LegCreated(leg) | LegEnded(leg):
            return call.stream(leg)
        case StreamConnected() | StreamSpeechChanged() | StreamMarkReached():
            return call.stream(event.stream)
        case StreamInterrupted() | StreamEnded() | SpeechUnderstood():
            return call.stream(event.stream)
        case _:
            return None


def _apply(stream: Stream, event: Event, now: int) -> Stream:
    match event:
        case LegCreated():
            return replace(stream, channel="up")
        case LegEnded():
            return replace(stream.silenced(stream.heard_until(now)), channel="ended")
        case StreamConnected():
            return replace(stream, connected_ms=now, activity=stream.activity.connected(now))
        case SpeechUnderstood() if stream.transcript is None or not event.is_noise:
            return replace(stream, transcript=event)
        case StreamSpeechChanged(by="bot"):
            return _with_speech(stream, event, now)
        case StreamMarkReached(name=name, heard_ms=heard_ms, is_cleared=False):
            since_ms = now if stream.speaking_since_ms else 0
            return replace(stream, heard_ms=heard_ms, speaking_since_ms=since_ms, last_mark=name)
        case StreamInterrupted():
            return _with_interruption(stream, event, now)
        case StreamEnded(reason=reason, heard_ms=heard_ms, last_mark=mark):
            last_mark = mark or stream.last_mark
            ended = stream.silenced(max(heard_ms, stream.heard_ms))
            return replace(ended, end_reason=reason, last_mark=last_mark)
        case _:
            return stream


def _with_interruption(stream: Stream, event: StreamInterrupted, now: int) -> Stream:
    """Store what a sound of the caller did to the bot's audio."""
    match event.outcome:
        case "paused":
            return stream.silenced(event.heard_ms)
        case "resumed":
            return replace(stream, heard_ms=event.heard_ms, speaking_since_ms=now)
        case "flushed":
            activity = stream.activity.with_barge_in()
            return replace(stream.silenced(event.heard_ms), activity=activity)


def _with_speech(stream: Stream, event: StreamSpeechChanged, now: int) -> Stream:
    """Store that the bot began or ceased to speak."""
    since_ms = now if event.is_speaking else 0
    stream = replace(stream, heard_ms=event.heard_ms, speaking_since_ms=since_ms)
    if not event.is_speaking or event.latency_ms is None:
        return stream
    return replace(stream, activity=stream.activity.with_turn(event.latency_ms))


def send(call: Call, stream: str, message: StreamMessage) -> tuple[Call, SendToStream]:
    """Send a message to a stream's bot."""
    call, message_id = allocate_id(call, "r")
    return call, SendToStream(stream, message_id, message)


def stop_all(call: Call) -> Step:
    """End all streams, and the snoops of forks: the call ends."""
    if not call.streams:
        return call, ()
    stops = tuple(StopStream(each.id) for each in call.streams)
    snoops = tuple(Hangup(each.snoop, causes.NORMAL) for each in call.streams if each.snoop)
    return replace(call, streams=()), (*stops, *snoops)
