"""step(call, event, now) -> (call, commands): the whole logic of a call, as one pure function.

`step` does no IO and reads no clock: the result depends on its arguments only. On every event these
rules run, in this order:

1. Rules that hold in every state (here and in `leg_lifecycle`): a hangup request, the call's time
   limit, invited legs that have rung for too long, and the progress or the end of a leg. A request
   (`sessions.request_dispatch`) is checked first, and changes nothing when it is rejected.
2. The session: a live transfer or conference reacts (`leg_lifecycle.propagate`).
3. The state: the call's current state reacts (the table in `states`, `verbs`).
4. The next verb: when a verb has ended (state `Advance`), the next one starts, until one waits
   (`verbs.registry.run_until_waiting`).
5. The recognizer of a gather: it starts or ends (`calls.recognition`).
6. The answer: an inbound call that rings is answered when a party is connected to it.
7. The recording and the snoops of coaches and forks: they start, stop or restart (`calls.taps`).
8. The media diff: the media plans of the call before and after are compared, and the difference
   becomes commands that bridge, mute and play (`media.diff`).

Because of 7 and 8, verbs and sessions never record, bridge or mute a leg: they change the call.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from msgspec.structs import replace

from engine.calls.leg_lifecycle import (
    LegProgress,
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
from engine.calls.media.streams import track_stream
from engine.calls.media.talk_time import update_talk_time
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, Takeover, update_leg
from engine.calls.model.call_states import Bridged, ClosingState, Gathering, Streaming
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
    StreamEvent,
)
from engine.calls.model.streams import Stream
from engine.calls.pending_hangups import repeat_hangups, track_hangups
from engine.calls.recognition import sync_recognizer
from engine.calls.recovery.missed_digits import is_already_delivered, remember_last
from engine.calls.reporting.call_events import sort_events
from engine.calls.reporting.ended_legs import last_seen_ms
from engine.calls.sessions.custom_hold_music import renew_stopped_loops
from engine.calls.sessions.leg_control import PhoneHold, on_phone_hold
from engine.calls.sessions.request_dispatch import decline_lost_refers, on_refer, on_request
from engine.calls.states import dispatch, own_deadline_ms
from engine.calls.taps import sync_taps
from engine.calls.verbs import call_end, forks, stream, type_ahead
from engine.calls.verbs.call_setup import ring_or_answer
from engine.calls.verbs.gather import gather
from engine.calls.verbs.registry import run_until_waiting
from engine.calls.verbs.sensitive_input import expect_surplus

BEFORE_MEDIA = (StopPlayback, StopVoicemail, Answer)
MAX_TAKEOVERS = 20  # of a call are kept


def step(call: Call, event: Event, now: int) -> Step:
    """Return the call after the event, and the commands that it leads to; `now` in ms."""
    if call.is_ended:
        return call, reject_leg(event)
    after, commands = RULES[type(event)](call, event, now)
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


def _on_leg_progress(call: Call, event: LegProgress, now: int) -> Step:
    return on_leg_progress(call, call.leg(event.leg), event, now)


def _on_leg_ended(call: Call, event: LegEnded, now: int) -> Step:
    return on_leg_ended(call, call.leg(event.leg), event, now)


def _on_dropped(call: Call, event: CallDropped, now: int) -> Step:
    return call_end.drop(call, event.reason, now)


def _on_recovered(call: Call, event: Recovered, now: int) -> Step:
    call, commands = dispatch(_with_takeover(call, event, now), (), event, now)
    media = (*restore_media(call, event.bridged), *map(DestroyBridge, event.left_over))
    return call, (*commands, *media, *decline_lost_refers(call))


def _with_takeover(call: Call, event: Recovered, now: int) -> Call:
    """Remember for the record that another engine has the call now."""
    if not event.engine:
        return call
    takeover = Takeover(now, event.engine, event.uncontrolled_ms)
    return replace(call, takeovers=(*call.takeovers, takeover)[-MAX_TAKEOVERS:])


def _on_bridge_failed(call: Call, event: BridgeFailed, now: int) -> Step:
    call, commands = forks.on_bridge_failed(call, event, now) if call.streams else (call, ())
    call, more = propagate_and_dispatch(call, event, now)
    return call, (*commands, *more)


def _on_archived(call: Call, event: RecordingsArchived, now: int) -> Step:
    return dispatch(apply_archive_result(call, event), (), event, now)


def _on_agent_named(call: Call, event: AgentNamed, _now: int) -> Step:
    return update_leg(call, event.leg, agent_name=event.name), ()


def _on_clock_changed(call: Call, event: ClockChanged, _now: int) -> Step:
    return move_times(call, event.by_ms), ()


def _on_stream_event(call: Call, event: StreamEvent, now: int) -> Step:
    """Give an event to its fork, or to the verb whose bot the caller hears."""
    of = call.stream(event.stream)
    if of is None or _is_repeated(of, event):
        return call, ()  # of an earlier stream, or a repetition
    if of.is_recognizer:
        call, commands = forks.on_event(call, of, event, now)
        return dispatch(call, commands, event, now)
    if of.data.fork:
        return forks.on_event(call, of, event, now)
    is_heard = isinstance(call.state, Streaming) and call.state.stream == event.stream
    if isinstance(event, StreamActionReceived) and not is_heard:
        return stream.reject_action(call, event)
    return dispatch(track_stream(call, event, now), (), event, now)


def _is_repeated(of: Stream, event: StreamEvent) -> bool:
    """Return whether a gateway, or an engine's memory, repeats an event after an outage."""
    if isinstance(event, StreamConnected):
        return bool(of.connected_ms)
    return isinstance(event, SpeechUnderstood) and event == of.transcript


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


Rule = Callable[[Call, Any, int], Step]
# How each event begins its way; then the state reacts to it. A table, because a chain of
# comparisons takes longer than many a rule.
RULES: Mapping[type, Rule] = {
    **dict.fromkeys(get_args(ControlRequest), _on_request),
    **dict.fromkeys(get_args(StreamEvent), _on_stream_event),
    **dict.fromkeys(
        (CallOpened, DigitStarted, TalkStarted, TalkEnded, PlaybackEnded, VoicemailEnded),
        propagate_and_dispatch,
    ),
    **dict.fromkeys(
        (MediaFetched, ActionReceived, ActionFailed, FlowStarted, FlowNodeLoaded),
        propagate_and_dispatch,
    ),
    **dict.fromkeys((ApiRequestSucceeded, ApiRequestFailed), propagate_and_dispatch),
    DigitPressed: _on_digit,
    RecordingsArchived: _on_archived,
    LegCreated: _on_leg_progress,
    LegRinging: _on_leg_progress,
    LegAnswered: _on_leg_progress,
    LegEnded: _on_leg_ended,
    LegReplaced: on_leg_replaced,
    LegHeldByPhone: _on_phone_hold,
    LegResumedByPhone: _on_phone_hold,
    AgentNamed: _on_agent_named,
    BridgeFailed: _on_bridge_failed,
    HangupRequested: _on_hangup_request,
    ReferReceived: on_refer,
    ReplacementArrived: on_refer,
    CallDropped: _on_dropped,
    ClockChanged: _on_clock_changed,
    DeadlinePassed: _on_deadline,
    Recovered: _on_recovered,
}
