"""The end of a gather: its event, its webhook, and what runs next."""

from msgspec import UNSET
from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.media.streams import recognizer_of
from engine.calls.model.call import Call, GatheredInput, Step, allocate_id
from engine.calls.model.call_states import Advance, AwaitingInstructions, Gathering
from engine.calls.model.commands import EmitEvent
from engine.calls.model.io_commands import SendWebhook
from engine.calls.reporting.call_events import emit
from engine.calls.reporting.ended_legs import MAX_HISTORY
from engine.calls.verbs.awaiting_instructions import WEBHOOK_TIMEOUT_MS
from engine.calls.verbs.media_faults import take_fault
from engine.calls.verbs.sensitive_input import expect_surplus
from engine.calls.verbs.suspendable_playback import stop_sound
from engine.calls.verbs.type_ahead import drop_earlier, expect_spare_terminator
from wire.webhooks import GatherLeg, GatherReason, GatherResult


def finish(
    call: Call, state: Gathering, reason: GatherReason, now: int, pressed_ms: int = 0
) -> Step:
    """End the gather; `pressed_ms` is the key-down of the digit that ended it."""
    stops = stop_sound(state)
    call, emitted = emit_gathered(call, state, reason, now)
    data, action = state.verb.data, state.verb.action
    if data.sensitive:
        call = expect_surplus(call, now)
    if reason == "max-digits":
        call = expect_spare_terminator(call, state.leg, data.terminator, pressed_ms)
    elif reason in {"timeout", "digit-timeout"}:
        call = drop_earlier(call, state.leg, min(now, state.deadline_ms))
    if reason == "timeout" and not state.digits and data.fallback is not None:
        fallback = Advance(data.fallback, "gather", gather_reason=reason)
        return replace(call, state=fallback), (*stops, emitted)
    if not isinstance(action, str):
        speech = state.speech if reason == "speech" else ""
        advance = Advance(
            action, "gather", digits=state.digits, speech=speech, gather_reason=reason
        )
        return replace(call, state=advance), (*stops, emitted)
    call, request = allocate_id(call, "r")
    awaiting = AwaitingInstructions(request, now + WEBHOOK_TIMEOUT_MS, data.fallback)
    call, body = _encode_result(call, state, reason)
    webhook = SendWebhook(request, action, body, data.sensitive)
    return replace(call, state=awaiting), (*stops, emitted, webhook)


def abandon(call: Call, state: Gathering, now: int) -> Step:
    """Report the input of a caller who hung up; the webhook's response is not awaited."""
    call, emitted = emit_gathered(call, state, "hangup", now)
    if not isinstance(state.verb.action, str):
        return call, (emitted,)
    call, request = allocate_id(call, "r")
    call, body = _encode_result(call, state, "hangup")
    webhook = SendWebhook(request, state.verb.action, body, state.verb.data.sensitive)
    return call, (emitted, webhook)


def emit_gathered(
    call: Call, state: Gathering, reason: GatherReason, now: int
) -> tuple[Call, EmitEvent]:
    """Emit the input and why the gather ended, and keep it for the call record.

    Sensitive digits are omitted in both.
    """
    digits = "" if state.verb.data.sensitive else state.digits
    gathered = GatheredInput(now, state.leg, digits, reason, state.speech, state.confidence)
    call = replace(call, gathered=(*call.gathered, gathered)[-MAX_HISTORY:])
    return emit(
        call,
        "gathered",
        now,
        channel_id=state.leg,
        dtmf=digits,
        reason=reason,
        speech=None if state.confidence is None else state.speech,
        confidence=state.confidence,
    )


def _encode_result(call: Call, state: Gathering, reason: GatherReason) -> tuple[Call, bytes]:
    """Encode the result as the body of a webhook."""
    call, fault = take_fault(call)
    has_spoken = state.confidence is not None
    result = GatherResult(
        call_id=call.id,
        dtmf=state.digits,
        to=GatherLeg(state.leg),
        reason=reason,
        custom_data=call.custom_data,
        media_fault=fault or UNSET,
        speech=state.speech if has_spoken else UNSET,
        confidence=state.confidence if state.confidence is not None else UNSET,
        recognizer_error=state.recognizer_error or _unready(call, reason) or UNSET,
    )
    return call, to_json(result)


def _unready(call: Call, reason: GatherReason) -> str:
    """Return why a caller who spoke in vain is no silent one; empty: the recognizer listened."""
    stream = recognizer_of(call)
    is_unready = reason == "timeout" and stream is not None and not stream.connected_ms
    return "the recognizer was not ready in time" if is_unready else ""
