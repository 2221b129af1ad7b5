"""Forks: streams whose bots only listen, beside whatever the call does.

A snoop on the main leg and the stream's channel are alone in a bridge. `calls.taps` starts the
snoop, and starts another when the leg hears another party or another leg becomes the main leg.
The recognizer of a gather is a fork of the gather's leg, which no event mentions.
"""

from typing import Any, Literal

from msgspec.structs import replace

from engine.calls.media.plan import coach_bridge
from engine.calls.media.stream_losses import (
    GATEWAY_WAIT_MS,
    REPORT_GRACE_MS,
    RETRY_DELAYS_MS,
    is_bot_lost,
    is_retried,
    tries_failed,
)
from engine.calls.media.streams import send, track_stream, with_stream, without_stream
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Advance, Gathering
from engine.calls.model.commands import Command, Hangup, Listen
from engine.calls.model.events import BridgeFailed, LegAnswered, LegCreated, LegEnded, LegRinging
from engine.calls.model.stream_commands import StartStream, StopStream
from engine.calls.model.stream_events import (
    StreamActionReceived,
    StreamConnected,
    StreamEnded,
    StreamEvent,
)
from engine.calls.model.streams import Stream, recognizer_data
from engine.calls.verbs import call_end
from engine.calls.verbs.gather import speech
from engine.calls.verbs.sensitive_input import sensitive_leg
from engine.calls.verbs.stream_report import emit_progress, report_fork
from wire import verbs
from wire.streams.setup import ActionMessage, BargeIn, Recognition, Track
from wire.verbs import StreamData
from wire.webhooks import StreamEndReason

MAX_FORKS = 4  # of a call, besides recognizers
MAX_SNOOP_FAILURES = 3  # in a row
DIRECTIONS: dict[Track, Literal["in", "out", "both"]] = {
    "caller": "in",
    "bot": "out",
    "both": "both",
}
ForkEvent = LegCreated | LegRinging | LegAnswered | LegEnded | StreamEvent


def start(call: Call, verb: verbs.Stream, now: int) -> Step:
    """Start a fork, and continue at once."""
    call, commands = start_fork(call, verb.data, verb.timeout, now)
    return replace(call, state=Advance(verb.action, "stream")), commands


def start_fork(call: Call, data: StreamData, timeout_s: float | None, now: int) -> Step:
    """Start a fork; one too many ends at once."""
    seconds = [each for each in (data.max_duration, timeout_s) if each is not None]
    limit_ms = now + int(min(seconds) * 1000) if seconds else 0
    if len(bot_forks(call)) >= MAX_FORKS:
        call, emitted = emit_progress(call, data, "", "ended", now, reason="too-many-forks")
        return call, (emitted,)
    return _open(call, Stream("", data, now, limit_ms=limit_ms), "started", now)


def _open(call: Call, fork: Stream, progress: str, now: int) -> Step:
    call, stream = allocate_id(call, "w")
    fork = replace(fork, id=stream)
    call = replace(call, streams=(*call.streams, fork))
    call, emitted = _emit(call, fork, progress, now)
    wait_ms = GATEWAY_WAIT_MS if fork.failures and not fork.is_recognizer else 0
    command = StartStream(stream, fork.data, recognition=fork.recognition, wait_ms=wait_ms)
    return call, (*emitted, command)


def start_recognizer(
    call: Call, leg: str, recognition: Recognition, barge_in: BargeIn, now: int
) -> Step:
    """Let a recognizer listen to a leg."""
    data = recognizer_data(barge_in)
    return _open(call, Stream("", data, now, recognition=recognition, leg=leg), "started", now)


def end_recognizer(call: Call, stream: Stream) -> Step:
    """End a recognizer's stream."""
    return without_stream(call, stream.id), _stops(stream)


def _emit(
    call: Call, fork: Stream, progress: str, now: int, **fields: Any
) -> tuple[Call, tuple[Command, ...]]:
    """Emit what became of a fork; a recognizer's is a matter of its gather."""
    if fork.is_recognizer:
        return call, ()
    call, emitted = emit_progress(call, fork.data, fork.id, progress, now, **fields)
    return call, (emitted,)


def forks(call: Call) -> tuple[Stream, ...]:
    """Return the forks of a call."""
    return tuple(each for each in call.streams if each.data.fork) if call.streams else ()


def bot_forks(call: Call) -> tuple[Stream, ...]:
    """Return the forks of a call to bots."""
    return tuple(each for each in forks(call) if not each.is_recognizer)


def fork_with(call: Call, data: StreamData) -> Stream | None:
    """Return the fork with the same bot and settings: a repeated request starts no other."""
    return next((each for each in forks(call) if each.data == data), None)


def fork_of(call: Call, channel: str) -> Stream | None:
    """Return the fork that a channel belongs to: its stream, or its snoop."""
    return next((each for each in forks(call) if channel in {each.id, each.snoop}), None)


def snooped_legs(call: Call) -> set[str]:
    """Return the legs of which forks hear what those hear."""
    return {each.snooped for each in forks(call) if each.snoop and each.data.track != "caller"}


def start_snoops(call: Call) -> Step:
    """Start a snoop for each fork that has none: on the main leg, or a recognizer's.

    No bot hears a sensitive gather, in which a telephone may send digits as tones.
    """
    is_secret = sensitive_leg(call) is not None
    commands: tuple[Command, ...] = ()
    for fork in forks(call):
        leg = fork.leg or call.main
        if not fork.snoop and not fork.is_lost and call.is_up(leg) and not is_secret:
            call, snoop = allocate_id(call, "s")
            call = with_stream(call, replace(fork, snoop=snoop, snooped=leg))
            commands = (*commands, Listen(snoop, leg, DIRECTIONS[fork.data.track]))
    return call, commands


def end_snoops(call: Call, leg: str) -> Step:
    """End the snoops that hear what a leg hears; the forks get others."""
    return _end_snoops(call, [each for each in forks(call) if each.snooped == leg])


def end_misplaced_snoops(call: Call) -> Step:
    """End the snoops on a leg that is the main leg no longer, and all for a sensitive gather."""
    is_secret = sensitive_leg(call) is not None
    misplaced = [
        each
        for each in forks(call)
        if each.snooped and (is_secret or each.snooped != (each.leg or call.main))
    ]
    return _end_snoops(call, misplaced)


def _end_snoops(call: Call, ended: list[Stream]) -> Step:
    for each in ended:
        call = with_stream(call, each.without_snoop())
    return call, tuple(Hangup(each.snoop, causes.NORMAL) for each in ended if each.snoop)


def on_event(call: Call, fork: Stream, event: ForkEvent, now: int) -> Step:
    """React to a fork's channels, gateway and bot."""
    match event:
        case LegCreated(leg) if leg == fork.snoop:
            return with_stream(call, replace(fork, is_snooping=True, snoop_failures=0)), ()
        case LegEnded(leg) if leg == fork.snoop:
            return _on_snoop_lost(call, fork, now)
        case StreamActionReceived():
            rejected = ActionMessage("rejected", "a fork only listens")
            call, command = send(call, fork.id, rejected)
            return call, (command,)
        case StreamEnded() if fork.end_reason:
            return call, ()  # a repetition
        case _:
            return _on_stream(call, fork, event, now)


def _on_stream(call: Call, fork: Stream, event: ForkEvent, now: int) -> Step:
    call = track_stream(call, event, now)
    fork = call.stream(fork.id) or fork
    match event:
        case LegEnded() if not fork.end_reason:
            return with_stream(call, replace(fork, due_ms=now + REPORT_GRACE_MS)), ()
        case StreamConnected():
            return _emit(call, fork, "connected", now)
        case StreamEnded(reason=reason):
            return _on_ended(call, fork, reason, now)
        case _:
            return call, ()


def on_bridge_failed(call: Call, event: BridgeFailed, now: int) -> Step:
    """Start another snoop if a fork's could not be bridged with its stream."""
    for fork in forks(call):
        if fork.snoop and event.bridge == coach_bridge(fork.snoop):
            call, commands = _on_snoop_lost(call, replace(fork, is_snooping=False), now)
            return call, (Hangup(fork.snoop, causes.NORMAL), *commands)
    return call, ()


def _on_snoop_lost(call: Call, fork: Stream, now: int) -> Step:
    """Let taps start another; one that never came to be is a failure, of which few are allowed."""
    failures = 0 if fork.is_snooping else fork.snoop_failures + 1
    fork = replace(fork.without_snoop(), snoop_failures=failures)
    if failures >= MAX_SNOOP_FAILURES:
        return end(call, fork, "pbx-lost", now)
    return with_stream(call, fork), ()


def on_deadline(call: Call, now: int) -> Step:
    """Try again to reach lost bots, and end forks whose time has passed."""
    commands: tuple[Command, ...] = ()
    for fork in forks(call):
        more: tuple[Command, ...] = ()
        if call.stream(fork.id) is None:
            continue  # the call has ended with the fork before it
        if fork.limit_ms and now >= fork.limit_ms:
            call, more = end(call, fork, "max-duration", now)
        elif fork.due_ms and now >= fork.due_ms and fork.end_reason:
            call, more = _open(without_stream(call, fork.id), _next_try(fork), "resumed", now)
        elif fork.due_ms and now >= fork.due_ms:
            call, more = _on_unreported_end(call, fork, now)
        commands = (*commands, *more)
    return call, commands


def _on_unreported_end(call: Call, fork: Stream, now: int) -> Step:
    """React to a gateway that died: the channel has ended, and no report has come."""
    commands: tuple[Command, ...] = ()
    if fork.is_recognizer and isinstance(call.state, Gathering):
        call, commands = speech.on_lost(call, call.state, "gateway-lost", now)
    call, more = _on_ended(call, fork, "gateway-lost", now)
    return call, (*commands, *more)


def _on_ended(call: Call, fork: Stream, reason: StreamEndReason, now: int) -> Step:
    failures = tries_failed(fork, fork.failures, now)
    if not is_retried(fork.data, reason, failures, is_recognizer=fork.is_recognizer):
        return end(call, fork, reason, now)
    call, emitted = _emit(call, fork, "lost", now, reason=reason)
    commands = (*emitted, *_stops(fork))
    due_ms = now + RETRY_DELAYS_MS[failures]
    fork = replace(fork.without_snoop(), end_reason=reason, failures=failures + 1, due_ms=due_ms)
    if due_ms > now:
        return with_stream(call, fork), commands
    call, opened = _open(without_stream(call, fork.id), _next_try(fork), "resumed", now)
    return call, (*commands, *opened)


def _next_try(fork: Stream) -> Stream:
    return Stream(
        "",
        fork.data,
        fork.started_ms,
        failures=fork.failures,
        limit_ms=fork.limit_ms,
        activity=fork.activity.resumed(),
        recognition=fork.recognition,
        leg=fork.leg,
    )


def end(call: Call, fork: Stream, reason: StreamEndReason, now: int) -> Step:
    """End a fork; the call ends with it if its bot is lost and the verb says so."""
    if fork.is_recognizer:
        return end_recognizer(call, fork)
    call, emitted = report_fork(call, fork, reason, now)
    call, commands = without_stream(call, fork.id), (*_stops(fork), emitted)
    if fork.data.on_lost != "hangup" or not is_bot_lost(reason):
        return call, commands
    call, hangups = call_end.start(replace(call, reason="stream_lost"), now, "system")
    return call, (*commands, *hangups)


def _stops(fork: Stream) -> tuple[Command, ...]:
    hangups = (Hangup(fork.snoop, causes.NORMAL),) if fork.snoop else ()
    return (StopStream(fork.id), *hangups)
