"""hangup, and every other end of a call: hang up all legs, archive recordings, then end."""

from msgspec.structs import replace

from engine.calls.media.call_recording import archive_remaining, is_archived
from engine.calls.media.streams import stop_all
from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import ArchivingRecordings, Ended, Ending
from engine.calls.model.commands import Command, Hangup
from engine.calls.model.events import DeadlinePassed, Event, LegEnded, RecordingsArchived, Recovered
from engine.calls.reporting.call_events import emit_completed, emit_leg_completed
from engine.calls.reporting.call_record import build_call_record
from engine.calls.reporting.ended_legs import archive_all_legs, archive_leg
from engine.calls.reporting.ended_streams import archive_all_streams
from engine.calls.transfer_and_conference_end import end_sessions
from engine.calls.verbs.stream_report import report_all
from wire.events.call_events import CallEvent

HANGUP_TIMEOUT_MS = 5_000
MAX_HANGUP_RETRIES = 3  # after that, the reaper hangs up what is left
ARCHIVE_TIMEOUT_MS = 10_000  # then the call ends, and archiving continues without it


def start(call: Call, now: int, by: causes.EndedBy, cause: int = causes.NORMAL) -> Step:
    """Hang up every leg; the call ends with the last."""
    call, reports = report_all(call, now)
    call = replace(call, ended_by=call.ended_by or by, cause=call.cause or cause, continuation=())
    call, commands = end_sessions(call, "call_ended", now)
    call, stops = stop_all(call)
    commands = (*reports, *commands, *stops)
    hangups = tuple(Hangup(leg.id, cause) for leg in call.legs)
    others = tuple(c for c in commands if not (isinstance(c, Hangup) and call.leg(c.leg)))
    if not call.legs:
        call, emitted = finish(call, now)
        return call, (*others, *emitted)
    return replace(call, state=Ending(now + HANGUP_TIMEOUT_MS)), (*others, *hangups)


def drop(call: Call, reason: str, now: int) -> Step:
    """End the call at once after an internal error; its legs are hung up without waiting."""
    call = archive_all_streams(call, now)
    by = call.ended_by or "system"
    cause = call.cause or causes.TEMPORARY_FAILURE
    call = replace(call, ended_by=by, cause=cause, reason=reason, continuation=(), invited=())
    hangups = tuple(Hangup(leg.id, causes.TEMPORARY_FAILURE) for leg in call.legs)
    call, stops = stop_all(call)
    events: tuple[Command, ...] = ()
    call = replace(call, state=Ending(now))
    for leg in call.legs:
        ended = LegEnded(leg.id, causes.TEMPORARY_FAILURE, reason=reason)
        call, ended_leg = archive_leg(call, leg, ended, now)
        if leg.id != call.main:
            call, emitted = emit_leg_completed(call, ended_leg, now)
            events = (*events, emitted)
    call, completed = _end(replace(call, ended_ms=now, status=_status(call)), now)
    return call, (*events, *completed, *hangups, *stops)


def on_event(call: Call, state: Ending, event: Event, now: int) -> Step:
    """Repeat the hangup of legs that have not ended; give up after some retries."""
    if not call.legs:
        return finish(call, now)
    match event:
        case DeadlinePassed() if state.tries >= MAX_HANGUP_RETRIES:
            return finish(call, now)
        case Recovered():  # recovery repeats the hangups that are still in the outbox
            return replace(call, state=replace(state, deadline_ms=now + HANGUP_TIMEOUT_MS)), ()
        case DeadlinePassed():
            ending = Ending(now + HANGUP_TIMEOUT_MS, state.tries + 1)
            cause = call.cause or causes.NORMAL
            hangups = tuple(Hangup(leg.id, cause, is_repeated=True) for leg in call.legs)
            return replace(call, state=ending), hangups
        case _:
            return call, ()


def finish(call: Call, now: int) -> Step:
    """Archive the recordings, then end the call.

    Recordings of legs that may still be up are left to the sweeper: they are still being written.
    """
    all_ended = not call.legs and call.reason != causes.reason(causes.LOST)
    call = archive_all_legs(call, now)
    ended_ms = _ended_ms(call, now)
    call = replace(
        call, continuation=(), ended_ms=ended_ms, unseen_ms=now - ended_ms, status=_status(call)
    )
    if is_archived(call) or not all_ended:
        return _end(call, now)
    call, commands = archive_remaining(call)
    return replace(call, state=ArchivingRecordings(now + ARCHIVE_TIMEOUT_MS)), commands


def _ended_ms(call: Call, now: int) -> int:
    """Return when the call ended; if its legs ended unnoticed, when the last was known to be up."""
    last = max(call.ended_legs, key=lambda each: each.ended_ms + each.unseen_ms, default=None)
    if last is None or not last.unseen_ms:
        return now
    return max(each.ended_ms for each in call.ended_legs)


def on_archiving(call: Call, _state: ArchivingRecordings, event: Event, now: int) -> Step:
    """End the call when all recordings are archived, or when that takes too long."""
    match event:
        case RecordingsArchived(fault=fault) if is_archived(call) or fault not in {"", "lost"}:
            return _end(call, now)
        case Recovered():
            return replace(call, state=ArchivingRecordings(now + ARCHIVE_TIMEOUT_MS)), ()
        case DeadlinePassed() | LegEnded(cause=causes.LOST):
            return _end(call, now)
        case _:
            return call, ()


def _end(call: Call, now: int) -> Step:
    call = replace(call, state=Ended())
    call, emitted = emit_completed(call, build_call_record(call), now)
    return call, (emitted,)


def last_event(call: Call) -> CallEvent:
    """Return the last event of an ended call again, with its record."""
    before = replace(call, event_seq=call.event_seq - 1)
    _, emitted = emit_completed(before, build_call_record(call), call.ended_ms)
    return emitted.event


def _status(call: Call) -> causes.Status:
    if call.answered_ms:
        return "failed" if _is_uninstructed(call) else "completed"
    # The first party of click-to-call, a caller by its role, is called: it refuses.
    is_given_up = call.ended_by == "caller" and call.direction == "inbound"
    if is_given_up or call.ended_by == "api":
        return "canceled"
    return causes.unanswered_status(call.cause)


def _is_uninstructed(call: Call) -> bool:
    """Return whether the first webhook or flow failed, so that no verb ran."""
    return call.cause == causes.INTERWORKING and not call.has_run_verb
