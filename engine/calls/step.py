"""step(call, event, now) -> (call, commands): the whole logic of a call, as one pure function.

First the rules that hold during anything (a leg comes or goes, a request, a hangup, the end), then
each state's own (`states`); last, everybody is brought to where they belong now (`seating`).
"""

from msgspec.structs import replace

from engine.calls.dispatch import dispatch, run_until_waiting
from engine.calls.leg_lifecycle import (
    LegProgress,
    apply_progress,
    end_call,
    expire_invites,
    on_leg_ended,
    propagate,
)
from engine.calls.media.call_recording import apply_archive_result, sync_recording
from engine.calls.media.diff import diff_media, restore_media
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, is_expected, own_deadline_ms
from engine.calls.model.commands import Command, DestroyBridge, Hangup, StopPlayback, StopVoicemail
from engine.calls.model.events import (
    DeadlinePassed,
    DigitPressed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
    PlaybackEnded,
    RecordingsArchived,
    Recovered,
)
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.leg import Leg
from engine.calls.model.requests import (
    ControlRequest,
    HangupRequested,
    LegHangupRequested,
    ReferReceived,
)
from engine.calls.model.state import ArchivingRecordings, Ending
from engine.calls.recovery.dtmf import is_known, remember_last
from engine.calls.reporting.call_events import sort_events
from engine.calls.sessions.request_dispatch import on_refer, on_request


def step(call: Call, event: Event, now: int) -> Step:
    """Give the call as the event leaves it, and what must be done about it; `now` in ms."""
    if call.is_ended:
        return call, _reject_leg(event)
    after, commands = _apply(call, event, now)
    after, recording = sync_recording(after, now)
    commands = (*recording, *sort_events(commands))
    moved = diff_media(call, after)
    if not moved:
        return after, commands
    # A move would wait behind a prompt, and is refused to a leg that leaves a message; a prompt
    # belongs where its leg is after the move.
    stops = tuple(each for each in commands if isinstance(each, (StopPlayback, StopVoicemail)))
    others = tuple(each for each in commands if not isinstance(each, (StopPlayback, StopVoicemail)))
    return after, (*stops, *moved, *others)


def _reject_leg(event: Event) -> tuple[Command, ...]:
    match event:
        case LegCreated(leg) | LegRinging(leg) | LegAnswered(leg):
            return (Hangup(leg, causes.NORMAL),)
        case _:
            return ()


def _apply(call: Call, event: Event, now: int) -> Step:
    match event:
        case DigitPressed() | MediaFetched() | PlaybackEnded():  # most events
            return _on_frequent(call, event, now)
        case LegCreated(leg) | LegRinging(leg) | LegAnswered(leg):
            return _on_leg_progress(call, call.leg(leg), event, now)
        case LegEnded(leg):
            return on_leg_ended(call, call.leg(leg), event, now)
        case HangupRequested(by, cause) if not isinstance(
            call.state, (Ending, ArchivingRecordings)
        ):
            return end_call(call, now, by, cause)
        case DeadlinePassed():
            return _on_deadline(call, event, now)
        case Recovered(bridged, left_over):
            call, commands = dispatch(call, (), event, now)
            return call, (*commands, *restore_media(call, bridged), *map(DestroyBridge, left_over))
        case RecordingsArchived():
            return dispatch(apply_archive_result(call, event), (), event, now)
        case ReferReceived():
            return on_refer(call, event, now)
        case _ if isinstance(event, ControlRequest):
            return _on_request(call, event, now)
        case _:
            return _propagate_and_dispatch(call, event, now)


def _on_frequent(call: Call, event: DigitPressed | MediaFetched | PlaybackEnded, now: int) -> Step:
    if not isinstance(event, DigitPressed):
        return _propagate_and_dispatch(call, event, now)
    if is_known(call, event):
        return call, ()
    after, commands = _propagate_and_dispatch(call, event, now)
    return after if after is call else remember_last(after, event), commands


def _propagate_and_dispatch(call: Call, event: Event, now: int) -> Step:
    call, commands = propagate(call, event, now)
    return dispatch(call, commands, event, now)


def _on_request(call: Call, event: ControlRequest, now: int) -> Step:
    call, commands = on_request(call, event, now)
    leg = call.leg(event.leg) if commands and isinstance(event, LegHangupRequested) else None
    if leg is None or leg.state != "requested":
        return run_until_waiting(call, commands, now)
    # A hangup overtakes the making of its leg: gone from now on, it is refused when it is there.
    call, more = on_leg_ended(call, leg, LegEnded(leg.id, causes.NORMAL), now)
    return call, (*commands, *more)


def _on_leg_progress(call: Call, leg: Leg | None, event: LegProgress, now: int) -> Step:
    if leg is None:
        followed_call, commands = propagate(call, event, now)
        if followed_call is not call:
            return followed_call, commands  # the snoop of a coach
    if leg is None or not is_expected(call, leg.id):
        return call, (Hangup(event.leg, causes.NORMAL),)
    call, told = apply_progress(call, leg, event, now)
    call, commands = propagate(call, event, now)
    return dispatch(call, (*told, *commands), event, now)


def _on_deadline(call: Call, event: DeadlinePassed, now: int) -> Step:
    if now >= call.must_end_ms and not isinstance(call.state, (Ending, ArchivingRecordings)):
        return end_call(replace(call, reason="longest_call"), now, "system", causes.NORMAL)
    call, commands = expire_invites(call, now)
    own = own_deadline_ms(call)
    if own is None or now < own:
        return run_until_waiting(call, commands, now)
    return dispatch(call, commands, event, now)
