"""Recording the conversation: which leg's tape runs, read off the call; and filing at the end.

One tape at a time, on the main leg; when the tree passes to another leg, so does the recording.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, numbered
from engine.calls.model.commands import Command, FileTapes, MuteTape, StartTape, StopTape
from engine.calls.model.events import TapesFiled
from engine.calls.model.recording import Purpose, Tape, read_name, tape_name
from engine.calls.model.requests import Wanted
from engine.calls.reporting.call_events import tell
from wire.events import Kind

_KINDS: dict[Purpose, str] = {"call": "k", "voicemail": "v"}
_TOLD: dict[Wanted, Kind] = {
    "start": "recording-started",
    "pause": "recording-paused",
    "resume": "recording-resumed",
    "stop": "recording-stopped",
}


def asked(call: Call, wanted: Wanted, now: int) -> Step:
    """Do what was asked of the recording; what holds already changes nothing."""
    match wanted:
        case "start":
            recorded, paused = True, call.paused
        case "stop":
            recorded, paused = False, False
        case "pause" | "resume":
            recorded, paused = call.recorded, wanted == "pause"
    if (recorded, paused) == (call.recorded, call.paused):
        return call, ()
    call = replace(call, recorded=recorded, paused=paused)
    call, told = tell(call, _TOLD[wanted], now, channel_id=call.main)
    return call, (told,)


def taped(call: Call, now: int) -> Step:
    """Bring the tape to the leg that is to be recorded now, muted as it is to be."""
    if not (call.recorded or call.tapes):
        return call, ()
    tape = _running(call)
    leg = call.main if call.recorded and call.is_up(call.main) else ""
    commands: tuple[Command, ...] = ()
    if tape is not None and tape.leg != leg:
        call = with_tape(call, replace(tape, state="ended"))
        commands = (StopTape(tape.leg, tape.name),) if call.leg(tape.leg) else ()
        tape = None
    if tape is None and leg:
        call, tape = begun(call, leg, "call", now)
        commands = (*commands, StartTape(leg, tape.name))
    if tape is not None and tape.muted != call.paused:
        call = with_tape(call, replace(tape, muted=call.paused))
        commands = (*commands, MuteTape(leg, call.paused))
    return call, commands


def begun(call: Call, leg: str, purpose: Purpose, now: int) -> tuple[Call, Tape]:
    """Note a tape that begins now, with the name of its file."""
    call, tape_id = numbered(call, _KINDS[purpose])
    assert call.archive is not None  # noqa: S101 - without one, nothing is recorded
    tape = Tape(tape_name(call.archive, tape_id, leg, now), leg, purpose, now)
    return replace(call, tapes=(*call.tapes, tape)), tape


def with_tape(call: Call, tape: Tape) -> Call:
    """Put a tape in its new state."""
    tapes = tuple(tape if each.name == tape.name else each for each in call.tapes)
    return replace(call, tapes=tapes)


def filed_at_last(call: Call) -> Step:
    """Ask for what has not been asked to be filed yet: the conversation, and each message."""
    files: dict[str, tuple[str, ...]] = {}
    for tape in call.tapes:
        named = read_name(tape.name)
        if named is not None and not tape.filing:
            files[named.path] = (*files.get(named.path, ()), tape.name)
    commands: tuple[Command, ...] = ()
    for names in files.values():
        call, command = filed(call, names)
        commands = (*commands, command)
    return call, commands


def filed(call: Call, names: tuple[str, ...]) -> tuple[Call, FileTapes]:
    """Ask for tapes to be filed as one recording."""
    call, request = numbered(call, "r")
    tapes = tuple(
        replace(each, filing=request) if each.name in names else each for each in call.tapes
    )
    return replace(call, tapes=tapes), FileTapes(request, names)


def noted(call: Call, event: TapesFiled) -> Call:
    """Note what became of tapes; those that could not be filed in time will be, later."""
    if event.fault and event.fault != "lost":
        return call
    tapes = tuple(
        replace(each, state="lost" if event.fault else "archived", duration_ms=event.duration_ms)
        if each.filing == event.request
        else each
        for each in call.tapes
    )
    return replace(call, tapes=tapes)


def is_filed(call: Call) -> bool:
    """Tell whether nothing is left to be filed."""
    return all(each.state in {"archived", "lost"} for each in call.tapes)


def _running(call: Call) -> Tape | None:
    """Find the conversation's tape that runs."""
    running = (e for e in reversed(call.tapes) if e.purpose == "call" and e.state == "running")
    return next(running, None)
