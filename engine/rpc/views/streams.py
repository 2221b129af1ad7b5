"""Views of streams."""

from engine.calls.model.call import Call
from engine.calls.model.call_states import Streaming
from engine.calls.model.streams import Stream
from wire.views import CallStreams, StreamView


def call_streams_view(call: Call, now: int) -> CallStreams:
    """Return the streams to bots, also one that is about to be started again; `now` in ms."""
    streams = tuple(_view(each, now) for each in call.streams if not each.is_recognizer)
    state = call.state
    if isinstance(state, Streaming) and not state.stream:
        streams = (_resuming(state), *streams)
    return CallStreams(call.id, streams)


def _resuming(state: Streaming) -> StreamView:
    """Return the stream of a verb between two tries: what is known of the one before."""
    data, point = state.verb.data, state.resume
    return StreamView(
        stream_id=state.id,
        url=data.url.partition("?")[0],
        protocol=data.protocol,
        state="resuming",
        fork=False,
        track=data.track,
        started_ms=state.since_ms,
        heard_ms=point.heard_ms if point else 0,
        last_mark=point.last_mark if point else "",
    )


def _view(stream: Stream, now: int) -> StreamView:
    data = stream.data
    return StreamView(
        stream_id=stream.id,
        url=data.url.partition("?")[0],
        protocol=data.protocol,
        state=_state(stream),
        fork=data.fork,
        track=data.track,
        started_ms=stream.started_ms,
        connected_ms=stream.connected_ms,
        heard_ms=stream.heard_until(now),
        last_mark=stream.last_mark,
    )


def _state(stream: Stream) -> str:
    if stream.is_lost:
        return "lost"
    if stream.connected_ms:
        return "connected"
    return "resuming" if stream.activity.resumes else "starting"
