"""Hangups of single legs: who initiated them, and their repetition."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, with_leg
from engine.calls.model.call_states import ClosingState
from engine.calls.model.causes import NORMAL, EndedBy
from engine.calls.model.commands import Command, Hangup
from engine.calls.model.events import (
    BridgeFailed,
    CallDropped,
    DeadlinePassed,
    Event,
    LegEnded,
)
from engine.calls.model.requests import ControlRequest, HangupRequested, ReferReceived

RETRY_MS = 5_000  # until a hangup that the PBX refused or lost is repeated
MAX_DOUBLINGS = 6  # of this delay, one for each retry


def track_hangups(
    before: Call, after: Call, commands: tuple[Command, ...], event: Event, now: int
) -> Step:
    """Store in each leg that is hung up who initiated this, and when the hangup is repeated.

    Returns the call, and the commands with one hangup for each leg.
    """
    if isinstance(after.state, ClosingState):
        commands = _first_hangups(commands)
    for each in commands:
        if isinstance(each, Hangup) and (leg := after.leg(each.leg)) is not None:
            by = leg.hung_up_by or _initiator_of(leg.id, before, after, event)
            due_ms = now + (RETRY_MS << min(leg.hangup_tries, MAX_DOUBLINGS))
            tries = leg.hangup_tries + 1
            leg = replace(leg, hung_up_by=by, hangup_due_ms=due_ms, hangup_tries=tries)
            after = with_leg(after, leg)
    return after, commands


def repeat_hangups(call: Call, now: int) -> tuple[Command, ...]:
    """Return the hangups to repeat: their legs should have ended by now."""
    overdue = (leg for leg in call.legs if leg.hangup_due_ms and now >= leg.hangup_due_ms)
    return tuple(Hangup(leg.id, NORMAL, is_repeated=True) for leg in overdue)


def _first_hangups(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """Return commands with the first hangup of each leg only: another one changes its cause."""
    legs = [each.leg for each in commands if isinstance(each, Hangup)]
    if len(legs) == len(set(legs)):
        return commands
    first = {each.leg: each for each in reversed(commands) if isinstance(each, Hangup)}
    return tuple(
        each for each in commands if not isinstance(each, Hangup) or each is first[each.leg]
    )


def _initiator_of(leg: str, before: Call, after: Call, event: Event) -> EndedBy:
    """Return who initiated the hangup of a leg; the call may have ended for another reason."""
    is_call = isinstance(after.state, ClosingState) and (
        leg == after.main or after.ended_by != "action"
    )
    return after.ended_by if is_call else initiator(before, after, event)


def initiator(before: Call, after: Call, event: Event) -> EndedBy:
    """Return who initiated the hangups, or the end of a conversation, that an event causes."""
    match event:
        case HangupRequested(by):
            return by
        case LegEnded(leg):
            ended = next((each for each in reversed(after.ended_legs) if each.leg.id == leg), None)
            return ended.ended_by if ended is not None else "action"
        case ReferReceived(leg):
            phone = before.leg(leg)
            return phone.role if phone is not None else "action"
        case DeadlinePassed() | BridgeFailed() | CallDropped():
            return "system"
        case _ if isinstance(event, ControlRequest):
            return "api"
        case _:
            return "action"
