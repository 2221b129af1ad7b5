"""Views of streams."""

from engine.calls.model.call import Call
from engine.calls.model.streams import Stream
from wire.views import CallStreams, StreamView


def call_streams_view(call: Call) -> CallStreams:
    return CallStreams(
        call.id, tuple(_view(each) for each in call.streams if not each.is_recognizer)
    )


def _view(stream: Stream) -> StreamView:
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
        heard_ms=stream.heard_ms,
        last_mark=stream.last_mark,
    )


def _state(stream: Stream) -> str:
    if stream.is_lost:
        return "lost"
    return "connected" if stream.connected_ms else "starting"
