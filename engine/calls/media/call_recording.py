"""Recording the conversation: which leg's tape runs, read off the call; and filing at the end.

One tape at a time, on the main leg; when the tree passes to another leg, so does the recording.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, allocate_id
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
from wire.events import Kind

_KINDS: dict[Purpose, str] = {"call": "k", "voicemail": "v"}
_TOLD: dict[RecordingAction, Kind] = {
    "start": "recording-started",
    "pause": "recording-paused",
    "resume": "recording-resumed",
    "stop": "recording-stopped",
}


def apply_request(call: Call, wanted: RecordingAction, now: int) -> Step:
    """Do what was asked of the recording; what holds already changes nothing."""
    match wanted:
        case "start":
            recorded, paused = True, call.recording_paused
        case "stop":
            recorded, paused = False, False
        case "pause" | "resume":
            recorded, paused = call.recording_enabled, wanted == "pause"
    if (recorded, paused) == (call.recording_enabled, call.recording_paused):
        return call, ()
    call = replace(call, recording_enabled=recorded, recording_paused=paused)
    call, told = emit(call, _TOLD[wanted], now, channel_id=call.main)
    return call, (told,)


def sync_recording(call: Call, now: int) -> Step:
    """Bring the tape to the leg that is to be recorded now, muted as it is to be."""
    if not (call.recording_enabled or call.recordings):
        return call, ()
    tape = _running(call)
    leg = call.main if call.recording_enabled and call.is_up(call.main) else ""
    commands: tuple[Command, ...] = ()
    if tape is not None and tape.leg != leg:
        call = with_recording(call, replace(tape, state="ended"))
        commands = (StopRecording(tape.leg, tape.name),) if call.leg(tape.leg) else ()
        tape = None
    if tape is None and leg:
        call, tape = start(call, leg, "call", now)
        commands = (*commands, StartRecording(leg, tape.name))
    if tape is not None and tape.muted != call.recording_paused:
        call = with_recording(call, replace(tape, muted=call.recording_paused))
        commands = (*commands, MuteRecording(leg, call.recording_paused))
    return call, commands


def start(call: Call, leg: str, purpose: Purpose, now: int) -> tuple[Call, Recording]:
    """Note a tape that begins now, with the name of its file."""
    call, tape_id = allocate_id(call, _KINDS[purpose])
    assert call.recording_destination is not None  # noqa: S101 - without one, nothing is recorded
    tape = Recording(
        recording_name(call.recording_destination, tape_id, leg, now), leg, purpose, now
    )
    return replace(call, recordings=(*call.recordings, tape)), tape


def with_recording(call: Call, tape: Recording) -> Call:
    """Put a tape in its new state."""
    tapes = tuple(tape if each.name == tape.name else each for each in call.recordings)
    return replace(call, recordings=tapes)


def archive_remaining(call: Call) -> Step:
    """Ask for what has not been asked to be filed yet: the conversation, and each message."""
    files: dict[str, tuple[str, ...]] = {}
    for tape in call.recordings:
        named = parse_recording_name(tape.name)
        if named is not None and not tape.archive_request:
            files[named.path] = (*files.get(named.path, ()), tape.name)
    commands: tuple[Command, ...] = ()
    for names in files.values():
        call, command = archive(call, names)
        commands = (*commands, command)
    return call, commands


def archive(call: Call, names: tuple[str, ...]) -> tuple[Call, ArchiveRecordings]:
    """Ask for tapes to be filed as one recording."""
    call, request = allocate_id(call, "r")
    tapes = tuple(
        replace(each, archive_request=request) if each.name in names else each
        for each in call.recordings
    )
    return replace(call, recordings=tapes), ArchiveRecordings(request, names)


def apply_archive_result(call: Call, event: RecordingsArchived) -> Call:
    """Note what became of tapes; those that could not be filed in time will be, later."""
    if event.fault and event.fault != "lost":
        return call
    tapes = tuple(
        replace(each, state="lost" if event.fault else "archived", duration_ms=event.duration_ms)
        if each.archive_request == event.request
        else each
        for each in call.recordings
    )
    return replace(call, recordings=tapes)


def is_archived(call: Call) -> bool:
    """Tell whether nothing is left to be filed."""
    return all(each.state in {"archived", "lost"} for each in call.recordings)


def _running(call: Call) -> Recording | None:
    """Find the conversation's tape that runs."""
    running = (e for e in reversed(call.recordings) if e.purpose == "call" and e.state == "running")
    return next(running, None)
