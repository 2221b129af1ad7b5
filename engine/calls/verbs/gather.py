"""gather: collect digits by four clocks: the prompt, the first digit, the gaps, the whole.

A digit stops the prompt. Its time is its key-down: Asterisk reports a digit at key-up, so each
clock is given GRACE_MS for a key that went down in time (design fact 6).
"""

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.flows.prefetch import prompt_sources
from engine.calls.model.call import Call, CollectedDigits, Step, allocate_id, is_held
from engine.calls.model.commands import EmitEvent, StopPlayback
from engine.calls.model.events import (
    DeadlinePassed,
    DigitPressed,
    Event,
    LegEnded,
    PlaybackEnded,
    Recovered,
)
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Advance, AwaitingInstructions, Gathering
from engine.calls.reporting.call_events import emit
from engine.calls.reporting.history import add_collected_digits
from engine.calls.verbs.instructions import WEBHOOK_TIMEOUT_MS
from engine.calls.verbs.play import FETCH_TIMEOUT_MS
from engine.calls.verbs.play import GRACE_MS as PLAYBACK_GRACE_MS
from engine.calls.verbs.prompt import length_ms, resume_prompt, stop_sound, suspend_prompt
from wire.media import Clip
from wire.verbs import Gather
from wire.webhooks import GatherLeg, GatherReason, GatherResult

GRACE_MS = 120
MAX_GATHER_MS = 3_600_000


def start(call: Call, verb: Gather, now: int) -> Step:
    """Ask for the prompt, or listen at once when there is none."""
    leg = verb.data.channel_id or call.main
    limit = now + (int(verb.timeout * 1000) + GRACE_MS if verb.timeout else MAX_GATHER_MS)
    fetched = min(now + FETCH_TIMEOUT_MS, limit)
    state = Gathering(verb, leg, "fetch", deadline_ms=fetched, limit_ms=limit, since_ms=now)
    if call.leg(leg) is None and verb.data.fallback is not None:
        return replace(call, state=Advance(verb.data.fallback, "gather")), ()
    if call.leg(leg) is None:
        return _finish(call, replace(state, phase="first"), "hangup", now)
    call, commands = _start_prompt(call, state, now)
    if is_held(call, leg) and isinstance(call.state, Gathering):
        call, _ = suspend(call, call.state, now)
    return call, commands


def _start_prompt(call: Call, state: Gathering, now: int) -> Step:
    asked = prompt_sources(state.verb.data)
    if not asked:
        return _wait_first_digit(call, state, now), ()
    call, request = allocate_id(call, "p")
    return replace(call, state=replace(state, request=request)), (FetchMedia(request, asked),)


def on_event(call: Call, state: Gathering, event: Event, now: int) -> Step:
    """Move by a digit, the prompt's course or a clock."""
    match event:
        case DigitPressed(leg) if leg == state.leg and not state.suspended:
            return _on_digit(call, state, event, now)
        case MediaFetched(request, clips) if request == state.request and state.phase == "fetch":
            return _on_prompt_fetched(call, state, clips, now)
        case PlaybackEnded(playback) if playback == state.request and state.phase == "prompt":
            return _wait_first_digit(call, state, now), ()
        case LegEnded(leg) if leg == state.leg:
            return _finish(call, state, "hangup", now)
        case DeadlinePassed() if now >= state.limit_ms:
            return _finish(call, state, "timeout", now)
        case DeadlinePassed():
            return _on_phase_timeout(call, state, now)
        case Recovered() if not state.suspended:
            return _restart_phase_clock(call, state, now), ()
        case _:
            return call, ()


def suspend(call: Call, state: Gathering, now: int) -> Step:
    """Let the leg be on hold: prompt and clocks stand still, its keys count for nothing."""
    state = replace(state, suspended_ms=now)
    if state.phase == "prompt":
        call, state, stops = suspend_prompt(call, state, now)
        return replace(call, state=state), stops
    return replace(call, state=replace(state, suspended=True, deadline_ms=call.must_end_ms)), ()


def resume(call: Call, state: Gathering, now: int) -> Step:
    """Go on after a hold: the prompt where it was stopped, a clock from its beginning."""
    limit = state.limit_ms + now - state.suspended_ms
    # Paused for a mute, it goes on at once: keys before it that nobody has heard yet still count.
    since = now if now > state.suspended_ms else state.since_ms
    state = replace(state, suspended=False, limit_ms=limit, deadline_ms=now, since_ms=since)
    if state.phase != "prompt":
        return _restart_phase_clock(call, state, now), ()
    if state.played_ms >= length_ms(state.clips):
        return _wait_first_digit(call, state, now), ()
    return _play_prompt(call, state, now)


def _play_prompt(call: Call, state: Gathering, now: int) -> Step:
    state, play = resume_prompt(state, state.leg, now)
    heard = _enter_phase(state, "prompt", state.ends_ms + PLAYBACK_GRACE_MS)
    return replace(call, state=heard), (play,)


def abandon(call: Call, state: Gathering, now: int) -> Step:
    """Tell what was collected of a caller who hung up; nobody waits for the answer."""
    call, emitted = emit_gathered(call, state, "hangup", now)
    if not isinstance(state.verb.action, str):
        return call, (emitted,)
    call, request = allocate_id(call, "r")
    body = encode_result(call, state, "hangup")
    return call, (emitted, SendWebhook(request, state.verb.action, body))


def _on_prompt_fetched(call: Call, state: Gathering, clips: tuple[Clip, ...], now: int) -> Step:
    if not clips:
        return _wait_first_digit(call, state, now), ()
    state = replace(state, clips=clips, phase="prompt")
    if state.suspended:
        return replace(call, state=state), ()
    return _play_prompt(call, state, now)


def _wait_first_digit(call: Call, state: Gathering, now: int) -> Call:
    if state.suspended:
        return replace(call, state=replace(state, phase="first"))
    deadline = now + state.verb.data.timeout + GRACE_MS
    return replace(call, state=_enter_phase(state, "first", deadline))


def _on_digit(call: Call, state: Gathering, pressed: DigitPressed, now: int) -> Step:
    if pressed.missed and pressed.pressed_ms > state.limit_ms - GRACE_MS:
        return _finish(call, state, "timeout", now)
    if _is_after_timeout(state, pressed):
        return _on_phase_timeout(call, state, now)
    stops = stop_sound(state)
    data = state.verb.data
    if pressed.digit == data.terminator:
        return _finish(call, state, "terminator", now)
    state = replace(state, digits=state.digits + pressed.digit)
    if len(state.digits) >= data.max_digits:
        return _finish(call, state, "max-digits", now)
    deadline = now + data.digit_timeout + GRACE_MS
    return replace(call, state=_enter_phase(state, "between", deadline)), stops


def _is_after_timeout(state: Gathering, pressed: DigitPressed) -> bool:
    """Tell whether the phase's clock had fired; in an outage it stands, as `_renewed` says."""
    is_running = state.phase in {"first", "between"} and not pressed.missed
    return is_running and pressed.pressed_ms > state.deadline_ms - GRACE_MS


def _on_phase_timeout(call: Call, state: Gathering, now: int) -> Step:
    match state.phase:
        case "fetch":
            return _wait_first_digit(call, state, now), ()
        case "prompt":
            return _wait_first_digit(call, state, now), (StopPlayback(state.request),)
        case "first":
            return _finish(call, state, "timeout", now)
        case "between":
            return _finish(call, state, "digit-timeout", now)


def _finish(call: Call, state: Gathering, reason: GatherReason, now: int) -> Step:
    stops = stop_sound(state)
    call, emitted = emit_gathered(call, state, reason, now)
    data, action = state.verb.data, state.verb.action
    if reason == "timeout" and not state.digits and data.fallback is not None:
        return replace(call, state=Advance(data.fallback, "gather")), (*stops, emitted)
    if not isinstance(action, str):
        return replace(call, state=Advance(action, "gather", digits=state.digits)), (
            *stops,
            emitted,
        )
    call, request = allocate_id(call, "r")
    asking = AwaitingInstructions(request, now + WEBHOOK_TIMEOUT_MS, data.fallback)
    asked = SendWebhook(request, action, encode_result(call, state, reason))
    return replace(call, state=asking), (*stops, emitted, asked)


def _restart_phase_clock(call: Call, state: Gathering, now: int) -> Call:
    """Give the caller the phase's time again: an outage is not the caller's silence."""
    data = state.verb.data
    given = {
        "fetch": FETCH_TIMEOUT_MS,
        "first": data.timeout + GRACE_MS,
        "between": data.digit_timeout + GRACE_MS,
    }
    if state.phase == "prompt":
        return call
    deadline = max(state.deadline_ms, now + given[state.phase])
    return replace(call, state=_enter_phase(state, state.phase, deadline))


def _enter_phase(state: Gathering, phase: str, deadline_ms: int) -> Gathering:
    return replace(state, phase=phase, deadline_ms=min(deadline_ms, state.limit_ms))


def emit_gathered(
    call: Call, state: Gathering, reason: GatherReason, now: int
) -> tuple[Call, EmitEvent]:
    """Tell what was collected, and why collecting ended; its record has it, too."""
    call = add_collected_digits(call, CollectedDigits(now, state.leg, state.digits, reason))
    facts = {"channel_id": state.leg, "dtmf": state.digits, "reason": reason}
    return emit(call, "gathered", now, **facts)


def encode_result(call: Call, state: Gathering, reason: GatherReason) -> bytes:
    """Put it as a customer's server is told."""
    gathered = GatherResult(
        call_id=call.id,
        dtmf=state.digits,
        to=GatherLeg(state.leg),
        reason=reason,
        custom_data=call.custom_data,
    )
    return to_json(gathered)
