"""stream: connects the caller with a bot, until the bot, the caller, a limit or a loss ends it.

A stream whose gateway dies is replaced at once by another; one whose bot is lost as `onLost` says.
The caller hears music until the bot has accepted the new stream. An action of the bot suspends the
verb: its state waits in the continuation, and the stream stays up.
"""

from typing import Any

from msgspec.structs import replace

from engine.calls.media import streams
from engine.calls.media.stream_losses import (
    GATEWAY_WAIT_MS,
    REPORT_GRACE_MS,
    RETRY_DELAYS_MS,
    is_bot_lost,
    is_retried,
    tries_failed,
)
from engine.calls.media.streams import with_stream, without_stream
from engine.calls.model.call import Call, Step, allocate_id, update_leg
from engine.calls.model.call_states import Advance, AwaitingInstructions, Streaming
from engine.calls.model.continuation import SuspendedStream
from engine.calls.model.events import (
    BridgeFailed,
    DeadlinePassed,
    DigitPressed,
    Event,
    LegEnded,
    Recovered,
)
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.sealed_digits import is_sealed
from engine.calls.model.stream_commands import StartStream, StopStream
from engine.calls.model.stream_events import StreamActionReceived, StreamConnected, StreamEnded
from engine.calls.model.streams import Stream
from engine.calls.verbs import call_end, forks
from engine.calls.verbs.awaiting_instructions import WEBHOOK_TIMEOUT_MS
from engine.calls.verbs.stream_report import emit_progress, report
from engine.calls.verbs.type_ahead import drop_earlier
from wire import verbs
from wire.streams.setup import ActionMessage, DigitMessage
from wire.webhooks import StreamEndReason

MAX_NESTED = 4  # streams that wait for an action of their bots: each occupies a gateway


def start(call: Call, verb: verbs.Stream, now: int) -> Step:
    """Open the first stream; a fork lets the tree continue at once."""
    if verb.data.fork:
        return forks.start(call, verb, now)
    call, bridge = allocate_id(call, "b")
    seconds = [each for each in (verb.data.max_duration, verb.timeout) if each is not None]
    limit_ms = now + int(min(seconds) * 1000) if seconds else call.must_end_ms
    return _open(call, Streaming(verb, "", bridge, now, limit_ms), now)


def _open(call: Call, state: Streaming, now: int) -> Step:
    call, stream_id = allocate_id(call, "w")
    activity = state.activity.resumed() if state.lost else state.activity
    stream = Stream(stream_id, state.verb.data, now, activity=activity)
    call = replace(
        call,
        streams=(*call.streams, stream),
        state=replace(state, stream=stream_id, due_ms=0),
    )
    progress = "resumed" if state.lost else "started"
    call, emitted = emit_progress(call, state.verb.data, stream_id, progress, now)
    wait_ms = GATEWAY_WAIT_MS if state.failures else 0
    return call, (
        emitted,
        StartStream(stream_id, state.verb.data, state.resume, wait_ms=wait_ms),
    )


def on_event(call: Call, state: Streaming, event: Event, now: int) -> Step:
    """React to the stream's channel, gateway and bot, to digits, and to the verb's limit."""
    match event:
        case StreamEnded(stream, reason) if stream == state.stream:
            return _on_ended(call, state, reason, now)
        case LegEnded(leg) if leg == state.stream:
            return replace(call, state=replace(state, due_ms=now + REPORT_GRACE_MS)), ()
        case StreamConnected(stream) if stream == state.stream:
            call, emitted = emit_progress(call, state.verb.data, stream, "connected", now)
            return call, (emitted,)
        case BridgeFailed() if _is_bridge_lost(call, state, event):
            return _on_ended(call, state, "pbx-lost", now)
        case DigitPressed(digit=digit) if is_sealed(digit):
            return call, ()  # the rest of a secret: no bot gets it
        case DigitPressed(leg, digit) if leg == call.main and state.stream:
            call, command = streams.send(call, state.stream, DigitMessage(digit))
            return call, (command,)
        case StreamActionReceived(stream) if stream == state.stream:
            return _on_action(call, state, event, now)
        case DeadlinePassed() if now >= state.limit_ms:
            return _finish(call, state, "max-duration", now)
        case DeadlinePassed() | Recovered() if state.due_ms and now >= state.due_ms:
            return (
                _on_ended(call, state, "gateway-lost", now)
                if state.stream
                else _open(call, state, now)
            )
        case _:
            return call, ()


def _is_bridge_lost(call: Call, state: Streaming, event: BridgeFailed) -> bool:
    """Return whether the stream was not bridged: an earlier one may have ended as it was."""
    is_current = {call.main, state.stream}.issuperset(event.legs)
    return event.bridge == state.bridge and state.stream != "" and is_current


def _on_action(call: Call, state: Streaming, event: StreamActionReceived, now: int) -> Step:
    """Run an action of the bot; the stream stays up, and waits."""
    nested = sum(isinstance(each, SuspendedStream) for each in call.continuation)
    if event.action is None or nested >= MAX_NESTED:
        error = event.error or f"bots are nested more than {MAX_NESTED} deep"
        call, command = streams.send(call, event.stream, ActionMessage("rejected", error))
        return call, (command,)
    call, commands = suspend(call, state, now)
    return replace(call, state=Advance(event.action, "stream")), commands


def reject_action(call: Call, event: StreamActionReceived) -> Step:
    """Reject an action of a bot whose last one still runs."""
    rejected = ActionMessage("rejected", event.error or "another action is running")
    call, command = streams.send(call, event.stream, rejected)
    return call, (command,)


def suspend(call: Call, state: Streaming, now: int) -> Step:
    """Let the stream wait while an action of its bot runs, or another party talks to the caller."""
    call = drop_earlier(call, call.main, now)  # the bot has had those digits
    call = replace(call, continuation=(SuspendedStream(state), *call.continuation))
    if not state.stream:
        return call, ()
    call, command = streams.send(call, state.stream, ActionMessage("started"))
    return call, (command,)


def resume(call: Call, suspended: SuspendedStream, ended: Advance, now: int) -> Step:
    """Continue the stream after an action of its bot, with the result of its last verb.

    Its bridge is a new one: an id of before may be in use as long as the caller is in the bridge
    to which it was moved from there (docs/asterisk.md).
    """
    call, bridge = allocate_id(call, "b")
    state = replace(suspended.state, bridge=bridge)
    rest = call.continuation[1:]
    call = replace(call, continuation=rest, state=state, conversation_end=None)
    call = update_leg(call, call.main, digits_from_ms=now)  # earlier ones were for the action
    stream = call.stream(state.stream)
    if stream is None:
        return _open(call, state, now)
    if stream.is_lost:
        return _on_ended(call, state, stream.end_reason or "gateway-lost", now)
    message = ActionMessage("ended", result=_result_of(ended))
    call, command = streams.send(call, stream.id, message)
    return call, (command,)


def _result_of(ended: Advance) -> dict[str, Any]:
    """Return what the bot learns of an action; never sensitive digits, which are sealed."""
    result: dict[str, Any] = {"verb": ended.event}
    if ended.digits:
        result["digits"] = ended.digits
    if ended.speech:
        result["speech"] = ended.speech
    if ended.gather_reason:
        result["reason"] = ended.gather_reason
    if ended.dial is not None:
        result["dial"] = {"status": ended.dial.status, "durationMs": ended.dial.duration_ms}
    return result


def _on_ended(call: Call, state: Streaming, reason: StreamEndReason, now: int) -> Step:
    """Replace a lost stream if it was the gateway's fault, or the bot is to be called again."""
    stream = call.stream(state.stream)
    if stream is None:
        return call, ()
    failures = tries_failed(stream, state.failures, now)
    if not is_retried(state.verb.data, reason, failures):
        return _give_up(call, state, reason, now)
    point = stream.resume_point(state.resume, now)
    call, emitted = emit_progress(call, state.verb.data, stream.id, "lost", now, reason=reason)
    stop = StopStream(stream.id)
    state = replace(
        state,
        stream="",
        failures=failures + 1,
        heard_ms=state.heard_ms + stream.heard_until(now),
        resume=point,
        lost=stream.id,
        activity=stream.activity,
        due_ms=now + RETRY_DELAYS_MS[failures],
    )
    call = replace(without_stream(call, stream.id), state=state)
    if state.due_ms > now:
        return call, (emitted, stop)
    call, opened = _open(call, state, now)
    return call, (emitted, stop, *opened)


def _give_up(call: Call, state: Streaming, reason: StreamEndReason, now: int) -> Step:
    if is_bot_lost(reason) and state.verb.data.on_lost == "hangup":
        call, commands = report(call, state, reason, now)
        call = replace(call, state=Advance(None, "stream"), reason="stream_lost")
        call, hangups = call_end.start(call, now, "system")
        return call, (*commands, *hangups)
    return _finish(call, state, reason, now)


def stop(call: Call, stream_id: str, now: int) -> Step:
    """End a stream at a request."""
    if isinstance(call.state, Streaming) and call.state.id == stream_id:
        return _finish(call, call.state, "stopped", now)
    stream = call.stream(stream_id)
    if stream is None:
        return call, ()
    if stream.data.fork:
        return forks.end(call, stream, "stopped", now)
    return with_stream(call, replace(stream, end_reason="stopped")), (StopStream(stream_id),)


def _finish(call: Call, state: Streaming, reason: StreamEndReason, now: int) -> Step:
    call, commands = report(call, state, reason, now)
    if not isinstance(state.verb.action, str):
        advance = Advance(state.verb.action, "stream", stream_reason=reason)
        return replace(call, state=advance), commands
    webhook = next(each for each in commands if isinstance(each, SendWebhook))
    awaiting = AwaitingInstructions(webhook.request, now + WEBHOOK_TIMEOUT_MS)
    return replace(call, state=awaiting), commands
