"""Call recording: derives which leg is recorded, and archives the recordings at the end.

One recording runs at a time, on the main leg; when the main leg changes, the recording moves.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, IdKind, Step, allocate_id
from engine.calls.model.call_states import CallState, ClosingState, Gathering
from engine.calls.model.commands import (
    ArchiveRecordings,
    Command,
    MuteRecording,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import RecordingsArchived
from engine.calls.model.recording import Purpose, Recording, parse_recording_name, recording_name
from engine.calls.model.requests import RecordingAction
from engine.calls.reporting.call_events import emit
from wire.events.call_events import Kind

# Each is part of the state, which every step stores; a part begins with each hold, for example.
MAX_RECORDINGS = 200
_ID_KINDS: dict[Purpose, IdKind] = {"call": "k", "voicemail": "v"}
_EVENT_KINDS: dict[RecordingAction, Kind] = {
    "start": "recording-started",
    "pause": "recording-paused",
    "resume": "recording-resumed",
    "stop": "recording-stopped",
}


def apply_request(call: Call, action: RecordingAction, now: int) -> Step:
    """Apply a recording action; do nothing if it already holds."""
    match action:
        case "start":
            enabled, paused = True, call.recording_paused
        case "stop":
            enabled, paused = False, False
        case "pause" | "resume":
            enabled, paused = call.recording_enabled, action == "pause"
    if (enabled, paused) == (call.recording_enabled, call.recording_paused):
        return call, ()
    call = replace(call, recording_enabled=enabled, recording_paused=paused)
    call, event = emit(call, _EVENT_KINDS[action], now, channel_id=call.main)
    return call, (event,)


def sync_recording(call: Call, now: int) -> Step:
    """Start, stop, move or mute the running recording as the call now requires."""
    running = running_recording(call)
    leg = call.main if call.recording_enabled and call.is_up(call.main) else ""
    commands: tuple[Command, ...] = ()
    if running is not None and running.leg != leg:
        call, commands = end_recording(call, running.leg)
        running = None
    is_muted = call.recording_paused or _is_sensitive(call.state)
    # A recording that starts while paused would be heard until it is muted.
    is_paused = is_muted or call.taps_paused_until_ms
    if running is None and leg and not is_paused and not isinstance(call.state, ClosingState):
        if is_full(call):
            call = replace(call, recording_enabled=False, recording_paused=False)
            kind = _EVENT_KINDS["stop"]
            call, event = emit(call, kind, now, channel_id=call.main, reason="too_many_recordings")
            return call, (*commands, event)
        call, running = start(call, leg, "call", now)
        commands = (*commands, StartRecording(leg, running.name))
    if running is not None and running.muted != is_muted:
        call = with_recording(call, replace(running, muted=is_muted))
        commands = (*commands, MuteRecording(leg, is_muted))
    return call, commands


def _is_sensitive(state: CallState) -> bool:
    """Return whether keys are pressed whose tones must not be recorded."""
    return isinstance(state, Gathering) and state.verb.data.sensitive


def is_full(call: Call) -> bool:
    """Return whether the call has as many recordings, and parts of them, as a call may have."""
    return len(call.recordings) >= MAX_RECORDINGS


def end_recording(call: Call, leg: str) -> Step:
    """End the running recording of a leg, if any."""
    running = running_recording(call)
    if running is None or running.leg != leg:
        return call, ()
    call = with_recording(call, replace(running, state="ended"))
    return call, (StopRecording(leg, running.name),) if call.leg(leg) else ()


def start(call: Call, leg: str, purpose: Purpose, now: int) -> tuple[Call, Recording]:
    """Add a recording that starts now, and return it."""
    call, recording_id = allocate_id(call, _ID_KINDS[purpose])
    assert call.recording_destination is not None  # noqa: S101 - checked before any start
    name = recording_name(call.recording_destination, recording_id, leg, now - call.created_ms)
    recording = Recording(name, leg, purpose, now)
    return replace(call, recordings=(*call.recordings, recording)), recording


def with_recording(call: Call, recording: Recording) -> Call:
    """Replace the recording of the same name."""
    recordings = (recording if e.name == recording.name else e for e in call.recordings)
    return replace(call, recordings=tuple(recordings))


def archive_remaining(call: Call) -> Step:
    """Request archiving of every recording that is not requested yet, one request per file."""
    files: dict[str, tuple[str, ...]] = {}
    for each in call.recordings:
        name = parse_recording_name(each.name)
        if name is not None and not each.archive_request:
            files[name.path] = (*files.get(name.path, ()), each.name)
    commands: tuple[Command, ...] = ()
    for names in files.values():
        call, command = archive(call, names)
        commands = (*commands, command)
    return call, commands


def archive(call: Call, names: tuple[str, ...]) -> tuple[Call, ArchiveRecordings]:
    """Request that recordings are archived as one file."""
    call, request = allocate_id(call, "r")
    recordings = tuple(
        replace(each, archive_request=request) if each.name in names else each
        for each in call.recordings
    )
    return replace(call, recordings=recordings), ArchiveRecordings(request, names)


def apply_archive_result(call: Call, event: RecordingsArchived) -> Call:
    """Store an archiving result; recordings that failed for now are archived later."""
    if event.fault and event.fault != "lost":
        return call
    recordings = tuple(
        replace(each, state="lost" if event.fault else "archived", duration_ms=event.duration_ms)
        if each.archive_request == event.request
        else each
        for each in call.recordings
    )
    return replace(call, recordings=recordings)


def is_archived(call: Call) -> bool:
    """Return whether every recording is archived or lost."""
    return all(each.state in {"archived", "lost"} for each in call.recordings)


def running_recording(call: Call) -> Recording | None:
    """Return the recording of the call that is running, if any."""
    running = (e for e in reversed(call.recordings) if e.purpose == "call" and e.state == "running")
    return next(running, None)
