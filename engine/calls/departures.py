"""A leg that has ended, and the end of the call: by its main leg, by a request, by the clock."""

from msgspec.structs import replace

from engine.calls.dispatch import carried_on
from engine.calls.leg_lifecycle import followed
from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.commands import Command
from engine.calls.model.events import LegEnded
from engine.calls.model.leg import Leg
from engine.calls.model.state import Ending, Filing, Gathering, Recording
from engine.calls.reporting.call_events import tell_leg_ended
from engine.calls.reporting.history import gone
from engine.calls.verbs import gather, hangup, record


def leg_ended(call: Call, leg: Leg | None, event: LegEnded, now: int) -> Step:
    """Let a leg be gone; with the main one the call ends, unless others go on without it."""
    if leg is None and isinstance(call.doing, Filing):
        return hangup.on_filing(call, event, now)
    if leg is None:
        return followed(call, event, now)
    in_conference = call.conference is not None
    call, past = gone(call, leg, event, now)
    call, commands = followed(call, event, now)
    if leg.id != call.main:
        call, told = tell_leg_ended(call, past, now)
        call, commands = carried_on(call, (told, *commands), event, now)
        return (_lost_with(call, event) if in_conference else call), commands
    if isinstance(call.doing, Ending):
        return carried_on(call, commands, event, now)
    call, ending = _main_ended(call, event, now)
    return call, (*commands, *ending)


def _lost_with(call: Call, event: LegEnded) -> Call:
    """Say that a conference was lost if it ends with a member who was, the main one or another."""
    if event.cause != causes.LOST or not isinstance(call.doing, Ending):
        return call
    return replace(call, reason=causes.reason(causes.LOST))


def _main_ended(call: Call, event: LegEnded, now: int) -> Step:
    if event.cause == causes.LOST:
        lost = replace(call, reason=causes.reason(causes.LOST))
        return ended(lost, now, "system", causes.TEMPORARY_FAILURE)
    call = replace(call, cause=event.cause, sip_code=event.sip_code)
    call = replace(call, reason=event.reason or call.reason)
    by = "system" if event.reason else "caller" if call.direction == "inbound" else "callee"
    return ended(call, now, by, event.cause)


def ended(call: Call, now: int, by: str, cause: int) -> Step:
    """End the call; what was collected of a caller who is gone is told, or filed."""
    commands: tuple[Command, ...] = ()
    if isinstance(call.doing, Gathering) and call.leg(call.main) is None:
        call, commands = gather.abandon(call, call.doing, now)
    if isinstance(call.doing, Recording):
        call, commands = record.abandon(call, call.doing, now)
    call, hangups = hangup.start(call, now, by, cause)
    return call, (*commands, *hangups)
