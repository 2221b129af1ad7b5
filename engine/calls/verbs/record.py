"""record: records a voicemail of the main leg, until a digit, silence, or the maximum length.

`play` plays its prompt and beep first; then the rest of the verb starts here. Why a recording
ended is known shortly after its end: a digit is reported, or the leg has ended.
"""

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.hold_and_mute import release_leg
from engine.calls.media import call_recording
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Advance, AwaitingInstructions, RecordingVoicemail
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
from engine.calls.reporting.call_events import emit, recording_fields
from engine.calls.verbs import play
from engine.calls.verbs.awaiting_instructions import WEBHOOK_TIMEOUT_MS
from engine.calls.verbs.media_faults import take_fault
from engine.calls.verbs.type_ahead import drop_earlier
from wire.verbs import Record
from wire.webhooks import RecordReason, RecordResult

STOP_TIMEOUT_MS = 1_000  # for a recording to end that was stopped
REASON_GRACE_MS = 200  # for the reason of an end to become known
ARCHIVE_TIMEOUT_MS = 5_000  # the caller waits; archiving continues after it


def start(call: Call, verb: Record, now: int) -> Step:
    """Play the prompt and the beep; without them, start to record.

    Without a destination for recordings, or with too many of them, advance at once.
    """
    can_record = call.recording_destination is not None and not call_recording.is_full(call)
    if can_record and verb.data.sources:
        return play.start(call, verb, now)
    if not can_record:
        return _continue(call, verb, "failed", None, now)
    call, emitted = release_leg(call, call.main, now)  # a voicemail is not recorded on hold
    call = drop_earlier(call, call.main, now)
    call, recording = call_recording.start(call, call.main, "voicemail", now)
    name, data = recording.name, verb.data
    state = RecordingVoicemail(verb, name, now, now + data.max_length * 1000)
    command = StartVoicemail(call.main, name, data.max_length, data.silence, data.terminator)
    return replace(call, state=state), (*emitted, command)


def on_event(call: Call, state: RecordingVoicemail, event: Event, now: int) -> Step:
    """React to the end of the recording, then to its archiving."""
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
            return _finish(call, state, now)  # if it has not ended, the call's end archives it
        case DeadlinePassed():
            return _stop(call, state, "max-length", now)
        case _:
            return call, ()


def abandon(call: Call, state: RecordingVoicemail, now: int) -> Step:
    """Report the voicemail of a caller who hung up; the webhook's response is not awaited."""
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
    leg = call.leg(call.main)
    state = replace(
        state,
        request=command.request,
        ended_ms=now,
        deadline_ms=now + ARCHIVE_TIMEOUT_MS,
        digits_from_ms=leg.digits_from_ms if leg is not None else 0,
    )
    call = drop_earlier(call, call.main, now)
    return replace(call, state=state), (command,)


def _on_archived(call: Call, state: RecordingVoicemail, now: int) -> Step:
    reason_due_ms = state.ended_ms + REASON_GRACE_MS
    if state.reason or now >= reason_due_ms:
        return _finish(call, state, now)
    return replace(call, state=replace(state, deadline_ms=reason_due_ms)), ()


def _finish(call: Call, state: RecordingVoicemail, now: int) -> Step:
    is_full = state.ended_ms - state.started_ms >= state.verb.data.max_length * 1000
    reason = state.reason or ("max-length" if is_full else "silence")
    return _continue(call, state.verb, reason, _recording(call, state), now)


def _continue(
    call: Call, verb: Record, reason: RecordReason, recording: Recording | None, now: int
) -> Step:
    call, commands = _report(call, verb, reason, recording, now)
    if not isinstance(verb.action, str):
        return replace(call, state=Advance(verb.action, "record")), commands
    webhook = next(each for each in commands if isinstance(each, SendWebhook))
    awaiting = AwaitingInstructions(webhook.request, now + WEBHOOK_TIMEOUT_MS)
    return replace(call, state=awaiting), commands


def _report(
    call: Call, verb: Record, reason: RecordReason, recording: Recording | None, now: int
) -> tuple[Call, tuple[Command, ...]]:
    """Emit the voicemail, and send it to the verb's webhook, if it has one."""
    is_stored = recording is not None and recording.state != "lost"
    fields = recording_fields(call, recording) if recording and is_stored else {}
    call, emitted = emit(call, "recorded", now, channel_id=call.main, reason=reason, **fields)
    if not isinstance(verb.action, str):
        return call, (emitted,)
    call, request = allocate_id(call, "r")
    call, fault = take_fault(call)
    result = RecordResult(
        call_id=call.id,
        channel_id=call.main,
        reason=reason,
        event="record",
        recording_url=fields.get("recording_url"),
        recording_purpose="voicemail",
        duration=fields.get("recording_duration"),
        custom_data=call.custom_data,
        media_fault=fault,
    )
    return call, (emitted, SendWebhook(request, verb.action, to_json(result)))


def _recording(call: Call, state: RecordingVoicemail) -> Recording:
    return next(each for each in call.recordings if each.name == state.recording)
