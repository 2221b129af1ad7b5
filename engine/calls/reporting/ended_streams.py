"""Stores the streams that have ended, for the call record; those that were resumed count once.

A recognizer is none of them: it belongs to its gather, which is in the record.
"""

import re

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import Streaming
from engine.calls.model.continuation import SuspendedStream
from engine.calls.model.streams import EndedStream, Stream
from engine.calls.reporting.ended_legs import MAX_HISTORY
from wire.webhooks import StreamEndReason

_AFTER_HOST = re.compile(r"[/?#]")


def archive_stream(
    call: Call, state: Streaming, reason: StreamEndReason, now: int
) -> tuple[Call, EndedStream]:
    """Store the end of the stream of a verb."""
    stream = call.stream(state.stream)
    ended = EndedStream(
        state.id,
        state.verb.data.protocol,
        _host(state.verb.data.url),
        is_fork=False,
        started_ms=state.since_ms,
        ended_ms=now,
        heard_ms=state.heard_ms + (stream.heard_until(now) if stream else 0),
        reason=reason,
        activity=stream.activity if stream else state.activity,
    )
    return _archive(call, ended), ended


def archive_fork(call: Call, fork: Stream, reason: StreamEndReason, now: int) -> Call:
    """Store the end of a fork."""
    ended = EndedStream(
        fork.id,
        fork.data.protocol,
        _host(fork.data.url),
        is_fork=True,
        started_ms=fork.started_ms,
        ended_ms=now,
        heard_ms=fork.heard_until(now),
        reason=reason,
        activity=fork.activity,
    )
    return _archive(call, ended)


def archive_all_streams(call: Call, now: int) -> Call:
    """Store the end of all streams of a call that ends at once."""
    suspended = (each.state for each in call.continuation if isinstance(each, SuspendedStream))
    current = (call.state,) if isinstance(call.state, Streaming) else ()
    for state in (*current, *suspended):
        call, _ = archive_stream(call, state, "hangup", now)
    for fork in (each for each in call.streams if each.data.fork and not each.is_recognizer):
        call = archive_fork(call, fork, "hangup", now)
    return call


def _archive(call: Call, ended: EndedStream) -> Call:
    return replace(call, ended_streams=(*call.ended_streams, ended)[-MAX_HISTORY:])


def _host(url: str) -> str:
    """Return host and port: a path or a query may hold a secret."""
    return _AFTER_HOST.split(url.partition("://")[2], maxsplit=1)[0]
