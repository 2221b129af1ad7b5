"""step(call, event, now) -> (call, commands): the whole logic of a call, as one pure function.

`step` does no IO and reads no clock: the result depends on its arguments only. On every event these
rules run, in this order:

1. Rules that hold in every state (here and in `leg_lifecycle`): a hangup request, the call's time
   limit, invited legs that have rung for too long, and the progress or the end of a leg. A request
   (`sessions.request_dispatch`) is checked first, and changes nothing when it is rejected.
2. The session: a live transfer or conference reacts (`leg_lifecycle.propagate`).
3. The state: the call's current state reacts (`state_dispatch`, `verbs`, `sessions.conversation`).
4. The next verb: when a verb has ended (state `Advance`), the next one starts, until one waits
   (`state_dispatch.run_until_waiting`).
5. The recognizer of a gather: it starts or ends (`calls.recognition`).
6. The answer: an inbound call that rings is answered when a party is connected to it.
7. The recording and the snoops of coaches and forks: they start, stop or restart (`calls.taps`).
8. The media diff: the media plans of the call before and after are compared, and the difference
   becomes commands that bridge, mute and play (`media.diff`).

Because of 7 and 8, verbs and sessions never record, bridge or mute a leg: they change the call.
"""

from msgspec.structs import replace

from engine.calls.leg_lifecycle import (
    end_call,
    expire_invites,
    on_leg_ended,
    on_leg_progress,
    on_leg_replaced,
    propagate_and_dispatch,
    reject_leg,
    with_end_by,
)
from engine.calls.media.bridge_choice import choose_bridge, reset_converters
from engine.calls.media.call_recording import apply_archive_result
from engine.calls.media.diff import diff_media, restore_media
from engine.calls.media.talk_time import update_talk_time
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, Takeover, with_leg
from engine.calls.model.call_deadline import own_deadline_ms
from engine.calls.model.call_states import Bridged, ClosingState, Gathering
from engine.calls.model.clock_shift import move_times
from engine.calls.model.commands import (
    Answer,
    Command,
    DestroyBridge,
    StopPlayback,
    StopVoicemail,
)
from engine.calls.model.events import (
    AgentNamed,
    BridgeFailed,
    CallDropped,
    CallOpened,
    ClockChanged,
    DeadlinePassed,
    DigitPressed,
    DigitStarted,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegHeldByPhone,
    LegReplaced,
    LegResumedByPhone,
    LegRinging,
    PlaybackEnded,
    RecordingsArchived,
    Recovered,
    TalkEnded,
    TalkStarted,
    VoicemailEnded,
)
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
    MediaFetched,
)
from engine.calls.model.requests import (
    ControlRequest,
    HangupRequested,
    LegHangupRequested,
    ReferReceived,
    ReplacementArrived,
)
from engine.calls.model.sealed_digits import is_sealed
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamActionReceived,
    StreamConnected,
    StreamEnded,
    StreamEvent,
    StreamInterrupted,
    StreamMarkReached,
    StreamSpeechChanged,
)
from engine.calls.pending_hangups import repeat_hangups, track_hangups
from engine.calls.recognition import sync_recognizer
from engine.calls.recovery.missed_digits import is_already_delivered, remember_last
from engine.calls.reporting.call_events import sort_events
from engine.calls.reporting.ended_legs import last_seen_ms
from engine.calls.sessions.custom_hold_music import renew_stopped_loops
from engine.calls.sessions.leg_control import PhoneHold, on_phone_hold
from engine.calls.sessions.request_dispatch import decline_lost_refers, on_refer, on_request
from engine.calls.state_dispatch import dispatch, run_until_waiting
from engine.calls.stream_dispatch import on_stream_event
from engine.calls.taps import sync_taps
from engine.calls.verbs import call_end, forks, type_ahead
from engine.calls.verbs.call_setup import ring_or_answer
from engine.calls.verbs.gather import gather
from engine.calls.verbs.sensitive_input import expect_surplus

BEFORE_MEDIA = (StopPlayback, StopVoicemail, Answer)
MAX_TAKEOVERS = 20  # of a call are kept

OtherEvent = (
    CallOpened
    | LegReplaced
    | AgentNamed
    | LegHeldByPhone
    | LegResumedByPhone
    | DigitStarted
    | TalkStarted
    | TalkEnded
    | VoicemailEnded
    | BridgeFailed
    | RecordingsArchived
    | StreamEvent
    | ClockChanged
    | ActionReceived
    | ActionFailed
    | FlowStarted
    | FlowNodeLoaded
    | ApiRequestSucceeded
    | ApiRequestFailed
    | ControlRequest
)


def step(call: Call, event: Event, now: int) -> Step:
    """Return the call after the event, and the commands that it leads to; `now` in ms."""
    if call.is_ended:
        return call, reject_leg(event)
    after, commands = _apply(call, event, now)
    if after.streams or isinstance(after.state, Gathering):  # frequent: saves a call
        after, commands = sync_recognizer(after, commands, now)
    after, commands = track_hangups(call, after, commands, event, now)
    after, answers = ring_or_answer(after, event, now)
    after, tap_commands = sync_taps(choose_bridge(call, after), event, now)
    commands = sort_events((*tap_commands, *commands, *answers))
    if after.transfers or after.conferences:
        after = renew_stopped_loops(call, after)
    media_commands = diff_media(call, after)
    resets: tuple[Command, ...] = ()
    if isinstance(call.state, Bridged) or isinstance(after.state, Bridged):
        # A leg may have ended unnoticed.
        happened_ms = last_seen_ms(call, event, now) if isinstance(event, LegEnded) else now
        after = update_talk_time(after, now, happened_ms)
        if media_commands:
            after, resets = reset_converters(after)
    if not media_commands:
        return after, commands
    # Prompts and voicemails stop before the media commands, which would wait behind a prompt and
    # are refused to a leg that records a voicemail. New prompts start after them, in the leg's new
    # place. A caller is answered before it is bridged.
    first = tuple(each for each in commands if isinstance(each, BEFORE_MEDIA))
    others = tuple(each for each in commands if not isinstance(each, BEFORE_MEDIA))
    return after, (*first, *media_commands, *others, *resets)


def _apply(call: Call, event: Event, now: int) -> Step:
    match event:
        case DigitPressed():
            return _on_digit(call, event, now)
        case MediaFetched() | PlaybackEnded():  # frequent: saves failed comparisons
            return propagate_and_dispatch(call, event, now)
        case LegCreated(leg) | LegRinging(leg) | LegAnswered(leg):
            return on_leg_progress(call, call.leg(leg), event, now)
        case LegEnded(leg):
            return on_leg_ended(call, call.leg(leg), event, now)
        case HangupRequested():
            return _on_hangup_request(call, event, now)
        case CallDropped(reason):
            return call_end.drop(call, reason, now)
        case DeadlinePassed():
            return _on_deadline(call, event, now)
        case Recovered(bridged, left_over):
            call, commands = dispatch(_with_takeover(call, event, now), (), event, now)
            media = (*restore_media(call, bridged), *map(DestroyBridge, left_over))
            return call, (*commands, *media, *decline_lost_refers(call))
        case ReferReceived() | ReplacementArrived():
            return on_refer(call, event, now)
        case _:
            return _apply_other(call, event, now)


def _with_takeover(call: Call, event: Recovered, now: int) -> Call:
    """Remember for the record that another engine has the call now."""
    if not event.engine:
        return call
    takeover = Takeover(now, event.engine, event.uncontrolled_ms)
    return replace(call, takeovers=(*call.takeovers, takeover)[-MAX_TAKEOVERS:])


def _apply_other(call: Call, event: OtherEvent, now: int) -> Step:
    match event:
        case LegReplaced():
            return on_leg_replaced(call, event, now)
        case BridgeFailed() if call.streams:
            call, commands = forks.on_bridge_failed(call, event, now)
            call, more = propagate_and_dispatch(call, event, now)
            return call, (*commands, *more)
        case CallOpened() | TalkStarted() | TalkEnded() | VoicemailEnded() | BridgeFailed():
            return propagate_and_dispatch(call, event, now)
        case (
            ActionReceived()
            | ActionFailed()
            | FlowStarted()
            | FlowNodeLoaded()
            | DigitStarted()
            | ApiRequestSucceeded()
            | ApiRequestFailed()
        ):
            return propagate_and_dispatch(call, event, now)
        case RecordingsArchived():
            return dispatch(apply_archive_result(call, event), (), event, now)
        case (
            StreamConnected()
            | StreamSpeechChanged()
            | StreamMarkReached()
            | StreamInterrupted()
            | SpeechUnderstood()
            | StreamActionReceived()
            | StreamEnded()
        ):
            return on_stream_event(call, event, now)
        case LegHeldByPhone() | LegResumedByPhone():
            return _on_phone_hold(call, event, now)
        case AgentNamed(leg_id, name):
            leg = call.leg(leg_id)
            return (with_leg(call, replace(leg, agent_name=name)) if leg else call), ()
        case ClockChanged(by_ms):
            return move_times(call, by_ms), ()
        case request:
            return _on_request(call, request, now)


def _on_digit(call: Call, event: DigitPressed, now: int) -> Step:
    """Give a digit to the state of its leg; one that no verb takes may be kept (type-ahead).

    A digit that was delivered already changes nothing.
    """
    leg = call.leg(event.leg)
    if leg is not None and is_already_delivered(leg, event):
        return call, ()
    if is_sealed(event.digit):
        call = expect_surplus(call, event.up_ms)
    if leg is None or type_ahead.accepted_since(call, leg) is None:
        return propagate_and_dispatch(call, event, now)
    call, is_spare = type_ahead.take_spare_terminator(call, leg, event)
    if is_spare:
        call, commands = gather.on_spare_terminator(remember_last(call, event), now)
        return run_until_waiting(call, commands, now)
    after, commands = propagate_and_dispatch(call, event, now)
    return remember_last(type_ahead.keep(call, event) if after is call else after, event), commands


def _on_hangup_request(call: Call, event: HangupRequested, now: int) -> Step:
    if isinstance(call.state, ClosingState):
        return propagate_and_dispatch(call, event, now)
    return end_call(call, now, event.by, event.cause)


def _on_phone_hold(call: Call, event: PhoneHold, now: int) -> Step:
    if isinstance(call.state, ClosingState):
        return call, ()
    return run_until_waiting(*on_phone_hold(call, event, now), now)


def _on_request(call: Call, event: ControlRequest, now: int) -> Step:
    before = call
    call, commands = on_request(call, event, now)
    call = with_end_by(before, call, event)
    leg = call.leg(event.leg) if commands and isinstance(event, LegHangupRequested) else None
    if leg is None or leg.state != "requested":
        return run_until_waiting(call, commands, now)
    # The hangup overtakes the leg's creation: the leg ends now, and is hung up when it is created.
    call, more = on_leg_ended(call, leg, LegEnded(leg.id, causes.NORMAL), now)
    return call, (*commands, *more)


def _on_deadline(call: Call, event: DeadlinePassed, now: int) -> Step:
    if now >= call.must_end_ms and not isinstance(call.state, ClosingState):
        return end_call(replace(call, reason="longest_call"), now, "system", causes.NORMAL)
    before = call
    call, commands = expire_invites(call, now)
    call = with_end_by(before, call, event)
    call, more = forks.on_deadline(call, now)
    commands = (*commands, *more)
    if not isinstance(call.state, ClosingState):  # `Ending` repeats the hangups of all legs
        commands = (*commands, *repeat_hangups(call, now))
    state_deadline_ms = own_deadline_ms(call)
    if state_deadline_ms is None or now < state_deadline_ms:
        return run_until_waiting(call, commands, now)
    return dispatch(call, commands, event, now)
