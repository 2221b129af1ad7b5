"""hangup, and every other way to the end: legs are told, and waited for; recordings are filed."""

from msgspec.structs import replace

from engine.calls.media.call_recording import filed_at_last, is_filed
from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.commands import Hangup
from engine.calls.model.events import DeadlinePassed, Event, LegEnded, Recovered, TapesFiled
from engine.calls.model.state import Ending, Filing, Over
from engine.calls.reporting.call_events import tell_over
from engine.calls.reporting.call_record import record_of
from engine.calls.reporting.history import given_up
from engine.calls.session_end import closed

HANGUP_MS = 5_000
TRIES = 3  # after that the reaper has it
FILING_MS = 10_000  # what takes longer is filed all the same, after the end has been told


def start(call: Call, now: int, by: str, cause: int = causes.NORMAL) -> Step:
    """Tell every leg to hang up; the call is over when the last has."""
    call = replace(call, ended_by=call.ended_by or by, cause=call.cause or cause, rest=())
    call, commands = closed(call, "call_ended", now)
    hangups = tuple(Hangup(leg.id, cause) for leg in call.legs)
    others = tuple(c for c in commands if not (isinstance(c, Hangup) and call.leg(c.leg)))
    if not call.legs:
        call, told = finish(call, now)
        return call, (*others, *told)
    return replace(call, doing=Ending(now + HANGUP_MS)), (*others, *hangups)


def on_event(call: Call, doing: Ending, event: Event, now: int) -> Step:
    """Tell the legs again that have not gone; give up on them in the end."""
    if not call.legs:
        return finish(call, now)
    match event:
        case DeadlinePassed() if doing.tries >= TRIES:
            return finish(call, now)
        case Recovered():  # a hangup that may not have come to it is in the outbox
            return replace(call, doing=replace(doing, deadline_ms=now + HANGUP_MS)), ()
        case DeadlinePassed():
            ending = Ending(now + HANGUP_MS, doing.tries + 1)
            cause = call.cause or causes.NORMAL
            hangups = tuple(Hangup(leg.id, cause) for leg in call.legs)
            return replace(call, doing=ending), hangups
        case _:
            return call, ()


def finish(call: Call, now: int) -> Step:
    """Call it over, once its recordings are filed.

    Those of legs that may live on are left to the archivist: they are recorded still.
    """
    is_gone = not call.legs and call.reason != causes.reason(causes.LOST)
    call = replace(given_up(call, now), rest=(), ended_ms=now, status=_status(call))
    if is_filed(call) or not is_gone:
        return _over(call, now)
    call, commands = filed_at_last(call)
    return replace(call, doing=Filing(now + FILING_MS)), commands


def on_filing(call: Call, event: Event, now: int) -> Step:
    """Call it over when all is filed, or when that takes too long."""
    match event:
        case TapesFiled(fault=fault) if is_filed(call) or fault not in {"", "lost"}:
            return _over(call, now)
        case Recovered():
            return replace(call, doing=Filing(now + FILING_MS)), ()
        case DeadlinePassed() | LegEnded(cause=causes.LOST):
            return _over(call, now)
        case _:
            return call, ()


def _over(call: Call, now: int) -> Step:
    call = replace(call, doing=Over())
    call, told = tell_over(call, record_of(call), now)
    return call, (told,)


def _status(call: Call) -> causes.Status:
    if call.answered_ms:
        return "completed"
    if call.ended_by in {"caller", "api"}:
        return "canceled"
    return causes.unanswered(call.cause)
