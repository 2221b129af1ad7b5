"""What is reported of a stream: its progress as events, and its end to the verb's webhook."""

from typing import Any

from msgspec.json import encode as to_json

from engine.calls.media.streams import without_stream
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Streaming
from engine.calls.model.commands import Command
from engine.calls.model.continuation import SuspendedStream
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.stream_commands import StopStream
from engine.calls.model.streams import Stream
from engine.calls.reporting.call_events import emit
from engine.calls.reporting.ended_streams import archive_fork, archive_stream
from engine.calls.verbs.type_ahead import drop_earlier
from wire.verbs import StreamData
from wire.webhooks import StreamEndReason, StreamResult


def report_all(call: Call, now: int) -> Step:
    """Report the streams of a call that ends; the responses of their webhooks are not awaited.

    Those are the stream that the caller hears, those that wait for an action of their bots, and
    the forks.
    """
    commands: tuple[Command, ...] = ()
    if isinstance(call.state, Streaming):
        call, commands = report(call, call.state, "hangup", now)
    call, more = report_suspended(call, now)
    commands = (*commands, *more)
    for fork in (each for each in call.streams if each.data.fork and not each.is_recognizer):
        call, emitted = report_fork(call, fork, "hangup", now)
        commands = (*commands, emitted)
    return call, commands


def report_fork(
    call: Call, fork: Stream, reason: StreamEndReason, now: int
) -> tuple[Call, Command]:
    """Emit the end of a fork, and store it for the record."""
    call = archive_fork(call, fork, reason, now)
    duration_ms = now - fork.started_ms
    return emit_progress(
        call, fork.data, fork.id, "ended", now, reason=reason, duration_ms=duration_ms
    )


def report_suspended(call: Call, now: int) -> Step:
    """Report the streams that wait for an action of their bots, or for a conversation."""
    commands: tuple[Command, ...] = ()
    for each in call.continuation:
        if isinstance(each, SuspendedStream):
            call, more = report(call, each.state, "hangup", now)
            commands = (*commands, *more)
    return call, commands


def report(call: Call, state: Streaming, reason: StreamEndReason, now: int) -> Step:
    """End the stream, emit that, and send it to the verb's webhook, if it has one."""
    stream = call.stream(state.stream)
    stops: tuple[Command, ...] = (StopStream(stream.id),) if stream else ()
    call, ended = archive_stream(call, state, reason, now)
    call, emitted = emit_progress(
        call,
        state.verb.data,
        state.id,
        "ended",
        now,
        reason=reason,
        duration_ms=now - state.since_ms,
    )
    point = stream.resume_point(state.resume, now) if stream else state.resume
    call = drop_earlier(without_stream(call, state.stream), call.main, now)  # the bot has had them
    if not isinstance(state.verb.action, str):
        return call, (*stops, emitted)
    call, request = allocate_id(call, "r")
    result = StreamResult(
        call_id=call.id,
        channel_id=call.main,
        stream_id=state.id,
        reason=reason,
        duration_ms=now - state.since_ms,
        heard_ms=ended.heard_ms,
        event="stream",
        last_mark=(point.last_mark or None) if point else None,
        custom_data=call.custom_data,
    )
    return call, (*stops, emitted, SendWebhook(request, state.verb.action, to_json(result)))


def emit_progress(
    call: Call, data: StreamData, stream: str, progress: str, now: int, **fields: Any
) -> tuple[Call, Command]:
    """Emit what became of a stream."""
    return emit(
        call,
        "stream",
        now,
        channel_id=call.main,
        session_id=stream or None,
        session_state=progress,
        mode=data.protocol,
        **fields,
    )
