"""step(call, event, now) -> (call, commands): the whole logic of a call, as one pure function.

First the rules that hold during anything (a leg comes or goes, a request, a hangup, the end), then
each state's own (`states`); last, everybody is brought to where they belong now (`seating`).
"""

from msgspec.structs import replace

from engine.calls.dispatch import carried_on, settled
from engine.calls.leg_lifecycle import LegMoved, ended, expired, followed, leg_ended, marked
from engine.calls.media.call_recording import noted, taped
from engine.calls.media.diff import moves, reseat
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, expects, own_deadline_ms
from engine.calls.model.commands import Command, DestroyBridge, Hangup, StopMessage, StopPlayback
from engine.calls.model.events import (
    DeadlinePassed,
    DigitPressed,
    Event,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
    PlaybackEnded,
    Recovered,
    TapesFiled,
)
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.leg import Leg
from engine.calls.model.requests import (
    Control,
    HangupRequested,
    LegHangupRequested,
    TransferReferred,
)
from engine.calls.model.state import Ending, Filing
from engine.calls.recovery.dtmf import is_known, remembered
from engine.calls.reporting.call_events import in_order
from engine.calls.sessions.request_dispatch import on_request, referred


def step(call: Call, event: Event, now: int) -> Step:
    """Give the call as the event leaves it, and what must be done about it; `now` in ms."""
    if call.is_over:
        return call, _refused(event)
    after, commands = _stepped(call, event, now)
    after, recording = taped(after, now)
    commands = (*recording, *in_order(commands))
    moved = moves(call, after)
    if not moved:
        return after, commands
    # A move would wait behind a prompt, and is refused to a leg that leaves a message; a prompt
    # belongs where its leg is after the move.
    stops = tuple(each for each in commands if isinstance(each, (StopPlayback, StopMessage)))
    others = tuple(each for each in commands if not isinstance(each, (StopPlayback, StopMessage)))
    return after, (*stops, *moved, *others)


def _refused(event: Event) -> tuple[Command, ...]:
    match event:
        case LegPlaced(leg) | LegRang(leg) | LegAnswered(leg):
            return (Hangup(leg, causes.NORMAL),)
        case _:
            return ()


def _stepped(call: Call, event: Event, now: int) -> Step:
    match event:
        case DigitPressed() | MediaFetched() | PlaybackEnded():  # most events
            return _heard(call, event, now)
        case LegPlaced(leg) | LegRang(leg) | LegAnswered(leg):
            return _leg_moved(call, call.leg(leg), event, now)
        case LegEnded(leg):
            return leg_ended(call, call.leg(leg), event, now)
        case HangupRequested(by, cause) if not isinstance(call.doing, (Ending, Filing)):
            return ended(call, now, by, cause)
        case DeadlinePassed():
            return _due(call, event, now)
        case Recovered(bridged, left_over):
            call, commands = carried_on(call, (), event, now)
            return call, (*commands, *reseat(call, bridged), *map(DestroyBridge, left_over))
        case TapesFiled():
            return carried_on(noted(call, event), (), event, now)
        case TransferReferred():
            return referred(call, event, now)
        case _ if isinstance(event, Control):
            return _asked(call, event, now)
        case _:
            return _followed(call, event, now)


def _heard(call: Call, event: DigitPressed | MediaFetched | PlaybackEnded, now: int) -> Step:
    if not isinstance(event, DigitPressed):
        return _followed(call, event, now)
    if is_known(call, event):
        return call, ()
    after, commands = _followed(call, event, now)
    return after if after is call else remembered(after, event), commands


def _followed(call: Call, event: Event, now: int) -> Step:
    call, commands = followed(call, event, now)
    return carried_on(call, commands, event, now)


def _asked(call: Call, event: Control, now: int) -> Step:
    call, commands = on_request(call, event, now)
    leg = call.leg(event.leg) if commands and isinstance(event, LegHangupRequested) else None
    if leg is None or leg.state != "requested":
        return settled(call, commands, now)
    # A hangup overtakes the making of its leg: gone from now on, it is refused when it is there.
    call, more = leg_ended(call, leg, LegEnded(leg.id, causes.NORMAL), now)
    return call, (*commands, *more)


def _leg_moved(call: Call, leg: Leg | None, event: LegMoved, now: int) -> Step:
    if leg is None:
        followed_call, commands = followed(call, event, now)
        if followed_call is not call:
            return followed_call, commands  # the snoop of a coach
    if leg is None or not expects(call, leg.id):
        return call, (Hangup(event.leg, causes.NORMAL),)
    call, told = marked(call, leg, event, now)
    call, commands = followed(call, event, now)
    return carried_on(call, (*told, *commands), event, now)


def _due(call: Call, event: DeadlinePassed, now: int) -> Step:
    if now >= call.latest_ms and not isinstance(call.doing, (Ending, Filing)):
        return ended(replace(call, reason="longest_call"), now, "system", causes.NORMAL)
    call, commands = expired(call, now)
    own = own_deadline_ms(call)
    if own is None or now < own:
        return settled(call, commands, now)
    return carried_on(call, commands, event, now)
