"""Dispatches the event of a stream to its fork, or to the verb whose bot the caller hears."""

from engine.calls.media.streams import track_stream
from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Streaming
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamActionReceived,
    StreamConnected,
    StreamEvent,
)
from engine.calls.model.streams import Stream
from engine.calls.state_dispatch import dispatch
from engine.calls.verbs import forks, stream


def on_stream_event(call: Call, event: StreamEvent, now: int) -> Step:
    """Apply an event of a stream; one of an earlier stream changes nothing."""
    stream_of = call.stream(event.stream)
    if stream_of is None or _is_repeated(stream_of, event):
        return call, ()  # of an earlier stream, or a repetition
    if stream_of.is_recognizer:
        call, commands = forks.on_event(call, stream_of, event, now)
        return dispatch(call, commands, event, now)
    if stream_of.data.fork:
        return forks.on_event(call, stream_of, event, now)
    is_heard = isinstance(call.state, Streaming) and call.state.stream == event.stream
    if isinstance(event, StreamActionReceived) and not is_heard:
        return stream.reject_action(call, event)
    return dispatch(track_stream(call, event, now), (), event, now)


def _is_repeated(stream_of: Stream, event: StreamEvent) -> bool:
    """Return whether a gateway, or an engine's memory, repeats an event after an outage."""
    match event:
        case StreamConnected():
            return bool(stream_of.connected_ms)
        case SpeechUnderstood():
            return event == stream_of.transcript
        case _:
            return False
