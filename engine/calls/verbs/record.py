"""record: a message of whoever is on the main leg, until a key, silence, or the longest time.

Its prompt and beep are played as `play` plays; what is left of the verb then begins here. Why a
recording has ended shows a moment after its end: a key is told, or the leg is gone.
"""

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.flows.prefetch import verb_sources
from engine.calls.media import call_recording
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.commands import Command, StartVoicemail, StopVoicemail
from engine.calls.model.events import (
    DeadlinePassed,
    DigitPressed,
    Event,
    RecordingsArchived,
    Recovered,
    VoicemailEnded,
)
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.recording import Recording
from engine.calls.model.state import Advance, AwaitingInstructions, RecordingVoicemail
from engine.calls.reporting.call_events import emit, recording_fields
from engine.calls.session_end import release_leg
from engine.calls.verbs import play
from engine.calls.verbs.instructions import WEBHOOK_TIMEOUT_MS
from wire.verbs import Record
from wire.webhooks import RecordReason, RecordResult

STOP_TIMEOUT_MS = 1_000  # within this it has ended that was told to
REASON_GRACE_MS = 200  # within this the reason of an end shows
ARCHIVE_TIMEOUT_MS = 5_000  # the caller waits: what takes longer is filed all the same


def start(call: Call, verb: Record, now: int) -> Step:
    """Play its prompt and beep, or, when they have been heard, begin to record.

    Without an archive go on at once.
    """
    if call.recording_destination is not None and verb_sources(verb):
        return play.start(call, verb, now)
    if call.recording_destination is None:
        return _continue(call, verb, "failed", None, now)
    call, emitted = release_leg(call, call.main, now)  # nobody leaves a message on hold
    call, tape = call_recording.start(call, call.main, "voicemail", now)
    data = verb.data
    state = RecordingVoicemail(verb, tape.name, now, now + data.max_length * 1000)
    command = StartVoicemail(call.main, tape.name, data.max_length, data.silence, data.terminator)
    return replace(call, state=state), (*emitted, command)


def on_event(call: Call, state: RecordingVoicemail, event: Event, now: int) -> Step:
    """Follow the message to its end, then to the archive."""
    match event:
        case DigitPressed(leg, digit) if leg == call.main and digit == state.verb.data.terminator:
            return _stop(call, state, "terminator", now)
        case VoicemailEnded(name, failed) if name == state.recording and not state.request:
            return _archive(call, replace(state, reason="failed") if failed else state, now)
        case RecordingsArchived(request) if request == state.request:
            return _on_archived(call, state, now)
        case Recovered() if state.request:
            return replace(call, state=replace(state, deadline_ms=now + ARCHIVE_TIMEOUT_MS)), ()
        case DeadlinePassed() if state.request or state.reason:
            return _finish(call, state, now)  # one that has not ended yet is filed with the call
        case DeadlinePassed():
            return _stop(call, state, "max-length", now)
        case _:
            return call, ()


def abandon(call: Call, state: RecordingVoicemail, now: int) -> Step:
    """Tell of the message of a caller who hung up: it is kept; nobody waits for the answer."""
    return _report(call, state.verb, state.reason or "hangup", _recording(call, state), now)


def _stop(call: Call, state: RecordingVoicemail, reason: RecordReason, now: int) -> Step:
    if state.reason:
        return call, ()
    state = replace(state, reason=reason)
    if state.request:
        return replace(call, state=state), ()
    stopping = replace(state, deadline_ms=now + STOP_TIMEOUT_MS)
    return replace(call, state=stopping), (StopVoicemail(state.recording),)


def _archive(call: Call, state: RecordingVoicemail, now: int) -> Step:
    call, command = call_recording.archive(call, (state.recording,))
    filing = replace(
        state, request=command.request, ended_ms=now, deadline_ms=now + ARCHIVE_TIMEOUT_MS
    )
    return replace(call, state=filing), (command,)


def _on_archived(call: Call, state: RecordingVoicemail, now: int) -> Step:
    shows_ms = state.ended_ms + REASON_GRACE_MS
    if state.reason or now >= shows_ms:
        return _finish(call, state, now)
    return replace(call, state=replace(state, deadline_ms=shows_ms)), ()


def _finish(call: Call, state: RecordingVoicemail, now: int) -> Step:
    is_full = state.ended_ms - state.started_ms >= state.verb.data.max_length * 1000
    reason = state.reason or ("max-length" if is_full else "silence")
    return _continue(call, state.verb, reason, _recording(call, state), now)


def _continue(
    call: Call, verb: Record, reason: RecordReason, tape: Recording | None, now: int
) -> Step:
    call, commands = _report(call, verb, reason, tape, now)
    if not isinstance(verb.action, str):
        return replace(call, state=Advance(verb.action, "record")), commands
    asked = next(each for each in commands if isinstance(each, SendWebhook))
    return replace(
        call, state=AwaitingInstructions(asked.request, now + WEBHOOK_TIMEOUT_MS)
    ), commands


def _report(
    call: Call, verb: Record, reason: RecordReason, tape: Recording | None, now: int
) -> tuple[Call, tuple[Command, ...]]:
    facts = recording_fields(call, tape) if tape and tape.state != "lost" else {}
    call, emitted = emit(call, "recorded", now, channel_id=call.main, reason=reason, **facts)
    if not isinstance(verb.action, str):
        return call, (emitted,)
    call, request = allocate_id(call, "r")
    result = RecordResult(
        call_id=call.id,
        channel_id=call.main,
        reason=reason,
        event="record",
        recording_url=facts.get("recording_url"),
        recording_purpose="voicemail",
        duration=facts.get("recording_duration"),
        custom_data=call.custom_data,
    )
    return call, (emitted, SendWebhook(request, verb.action, to_json(result)))


def _recording(call: Call, state: RecordingVoicemail) -> Recording:
    return next(each for each in call.recordings if each.name == state.recording)
