"""gather: collect digits by four clocks: the prompt, the first digit, the gaps, the whole.

A digit stops the prompt. Its time is its key-down: Asterisk reports a digit at key-up, so each
clock is given GRACE_MS for a key that went down in time (design fact 6).
"""

from msgspec.json import encode as to_json
from msgspec.structs import replace

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
from engine.calls.verbs.prompt import length_ms, resume_prompt, sources, stop_sound, suspend_prompt
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
    doing = Gathering(verb, leg, "fetch", deadline_ms=fetched, limit_ms=limit, since_ms=now)
    if call.leg(leg) is None and verb.data.fallback is not None:
        return replace(call, state=Advance(verb.data.fallback, "gather")), ()
    if call.leg(leg) is None:
        return _finish(call, replace(doing, phase="first"), "hangup", now)
    call, commands = _start_prompt(call, doing, now)
    if is_held(call, leg) and isinstance(call.state, Gathering):
        call, _ = suspend(call, call.state, now)
    return call, commands


def _start_prompt(call: Call, doing: Gathering, now: int) -> Step:
    asked = sources(doing.verb.data)
    if not asked:
        return _wait_first_digit(call, doing, now), ()
    call, request = allocate_id(call, "p")
    return replace(call, state=replace(doing, request=request)), (FetchMedia(request, asked),)


def on_event(call: Call, doing: Gathering, event: Event, now: int) -> Step:
    """Move by a digit, the prompt's course or a clock."""
    match event:
        case DigitPressed(leg) if leg == doing.leg and not doing.suspended:
            return _on_digit(call, doing, event, now)
        case MediaFetched(request, clips) if request == doing.request and doing.phase == "fetch":
            return _on_prompt_fetched(call, doing, clips, now)
        case PlaybackEnded(playback) if playback == doing.request and doing.phase == "prompt":
            return _wait_first_digit(call, doing, now), ()
        case LegEnded(leg) if leg == doing.leg:
            return _finish(call, doing, "hangup", now)
        case DeadlinePassed() if now >= doing.limit_ms:
            return _finish(call, doing, "timeout", now)
        case DeadlinePassed():
            return _on_phase_timeout(call, doing, now)
        case Recovered() if not doing.suspended:
            return _restart_phase_clock(call, doing, now), ()
        case _:
            return call, ()


def suspend(call: Call, doing: Gathering, now: int) -> Step:
    """Let the leg be on hold: prompt and clocks stand still, its keys count for nothing."""
    doing = replace(doing, suspended_ms=now)
    if doing.phase == "prompt":
        call, doing, stops = suspend_prompt(call, doing, now)
        return replace(call, state=doing), stops
    return replace(call, state=replace(doing, suspended=True, deadline_ms=call.must_end_ms)), ()


def resume(call: Call, doing: Gathering, now: int) -> Step:
    """Go on after a hold: the prompt where it was stopped, a clock from its beginning."""
    limit = doing.limit_ms + now - doing.suspended_ms
    # Paused for a mute, it goes on at once: keys before it that nobody has heard yet still count.
    since = now if now > doing.suspended_ms else doing.since_ms
    doing = replace(doing, suspended=False, limit_ms=limit, deadline_ms=now, since_ms=since)
    if doing.phase != "prompt":
        return _restart_phase_clock(call, doing, now), ()
    if doing.played_ms >= length_ms(doing.clips):
        return _wait_first_digit(call, doing, now), ()
    return _play_prompt(call, doing, now)


def _play_prompt(call: Call, doing: Gathering, now: int) -> Step:
    doing, play = resume_prompt(doing, doing.leg, now)
    heard = _enter_phase(doing, "prompt", doing.ends_ms + PLAYBACK_GRACE_MS)
    return replace(call, state=heard), (play,)


def abandon(call: Call, doing: Gathering, now: int) -> Step:
    """Tell what was collected of a caller who hung up; nobody waits for the answer."""
    call, told = emit_gathered(call, doing, "hangup", now)
    if not isinstance(doing.verb.action, str):
        return call, (told,)
    call, request = allocate_id(call, "r")
    body = encode_result(call, doing, "hangup")
    return call, (told, SendWebhook(request, doing.verb.action, body))


def _on_prompt_fetched(call: Call, doing: Gathering, clips: tuple[Clip, ...], now: int) -> Step:
    if not clips:
        return _wait_first_digit(call, doing, now), ()
    doing = replace(doing, clips=clips, phase="prompt")
    if doing.suspended:
        return replace(call, state=doing), ()
    return _play_prompt(call, doing, now)


def _wait_first_digit(call: Call, doing: Gathering, now: int) -> Call:
    if doing.suspended:
        return replace(call, state=replace(doing, phase="first"))
    deadline = now + doing.verb.data.timeout + GRACE_MS
    return replace(call, state=_enter_phase(doing, "first", deadline))


def _on_digit(call: Call, doing: Gathering, pressed: DigitPressed, now: int) -> Step:
    if pressed.missed and pressed.pressed_ms > doing.limit_ms - GRACE_MS:
        return _finish(call, doing, "timeout", now)
    if _is_after_timeout(doing, pressed):
        return _on_phase_timeout(call, doing, now)
    stops = stop_sound(doing)
    data = doing.verb.data
    if pressed.digit == data.terminator:
        return _finish(call, doing, "terminator", now)
    doing = replace(doing, digits=doing.digits + pressed.digit)
    if len(doing.digits) >= data.max_digits:
        return _finish(call, doing, "max-digits", now)
    deadline = now + data.digit_timeout + GRACE_MS
    return replace(call, state=_enter_phase(doing, "between", deadline)), stops


def _is_after_timeout(doing: Gathering, pressed: DigitPressed) -> bool:
    """Tell whether the phase's clock had fired; in an outage it stands, as `_renewed` says."""
    is_running = doing.phase in {"first", "between"} and not pressed.missed
    return is_running and pressed.pressed_ms > doing.deadline_ms - GRACE_MS


def _on_phase_timeout(call: Call, doing: Gathering, now: int) -> Step:
    match doing.phase:
        case "fetch":
            return _wait_first_digit(call, doing, now), ()
        case "prompt":
            return _wait_first_digit(call, doing, now), (StopPlayback(doing.request),)
        case "first":
            return _finish(call, doing, "timeout", now)
        case "between":
            return _finish(call, doing, "digit-timeout", now)


def _finish(call: Call, doing: Gathering, reason: GatherReason, now: int) -> Step:
    stops = stop_sound(doing)
    call, told = emit_gathered(call, doing, reason, now)
    data, action = doing.verb.data, doing.verb.action
    if reason == "timeout" and not doing.digits and data.fallback is not None:
        return replace(call, state=Advance(data.fallback, "gather")), (*stops, told)
    if not isinstance(action, str):
        return replace(call, state=Advance(action, "gather", digits=doing.digits)), (*stops, told)
    call, request = allocate_id(call, "r")
    asking = AwaitingInstructions(request, now + WEBHOOK_TIMEOUT_MS, data.fallback)
    asked = SendWebhook(request, action, encode_result(call, doing, reason))
    return replace(call, state=asking), (*stops, told, asked)


def _restart_phase_clock(call: Call, doing: Gathering, now: int) -> Call:
    """Give the caller the phase's time again: an outage is not the caller's silence."""
    data = doing.verb.data
    given = {
        "fetch": FETCH_TIMEOUT_MS,
        "first": data.timeout + GRACE_MS,
        "between": data.digit_timeout + GRACE_MS,
    }
    if doing.phase == "prompt":
        return call
    deadline = max(doing.deadline_ms, now + given[doing.phase])
    return replace(call, state=_enter_phase(doing, doing.phase, deadline))


def _enter_phase(doing: Gathering, phase: str, deadline_ms: int) -> Gathering:
    return replace(doing, phase=phase, deadline_ms=min(deadline_ms, doing.limit_ms))


def emit_gathered(
    call: Call, doing: Gathering, reason: GatherReason, now: int
) -> tuple[Call, EmitEvent]:
    """Tell what was collected, and why collecting ended; its record has it, too."""
    call = add_collected_digits(call, CollectedDigits(now, doing.leg, doing.digits, reason))
    facts = {"channel_id": doing.leg, "dtmf": doing.digits, "reason": reason}
    return emit(call, "gathered", now, **facts)


def encode_result(call: Call, doing: Gathering, reason: GatherReason) -> bytes:
    """Put it as a customer's server is told."""
    gathered = GatherResult(
        call_id=call.id,
        dtmf=doing.digits,
        to=GatherLeg(doing.leg),
        reason=reason,
        custom_data=call.custom_data,
    )
    return to_json(gathered)
