"""Next instructions from a customer's webhook, a stored flow, or an API request of a flow."""

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Advance, AwaitingInstructions
from engine.calls.model.continuation import SuspendedStream
from engine.calls.model.events import DeadlinePassed, Event, Recovered
from engine.calls.model.io_commands import PrefetchMedia, SendWebhook
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
)
from engine.calls.verbs import flow
from engine.calls.verbs.audio_sources import audio_sources
from engine.calls.verbs.media_faults import take_fault
from wire.verbs import Action, Redirect
from wire.webhooks import ActionRequest

WEBHOOK_TIMEOUT_MS = 17_000  # the webhook's own limit, 15 s, and a margin for the engine


def start_url(call: Call, url: str, ended: Advance, now: int, *, is_flow: bool = False) -> Step:
    """Request the next action from a URL; the body says what has just ended."""
    call, request = allocate_id(call, "r")
    call, fault = take_fault(call)
    body = ActionRequest(
        call_id=call.id,
        event=ended.event,
        from_=call.from_,
        to=call.to,
        direction=call.direction,
        account_id=call.account,
        channel_id=call.main,
        dial=ended.dial,
        answered_by=call.answered_by,
        privacy=call.privacy,
        diversion=call.diversion,
        custom_data=call.custom_data,
        media_fault=fault,
        caller_name=call.caller_name,
    )
    awaiting = AwaitingInstructions(
        request, now + WEBHOOK_TIMEOUT_MS, ended.fallback, is_flow=is_flow
    )
    return replace(call, state=awaiting), (SendWebhook(request, url, to_json(body)),)


def redirect(call: Call, verb: Redirect, now: int) -> Step:
    """Request another tree; without a fallback, a flow goes on if the request fails."""
    fallback = verb.data.fallback
    ended = Advance(None, "redirect", fallback=fallback)
    return start_url(call, verb.data.url, ended, now, is_flow=fallback is None)


def on_event(call: Call, state: AwaitingInstructions, event: Event, now: int) -> Step:
    """Run the action that was returned; after a failure, the fallback; without one, hang up."""
    match event:
        case FlowStarted() | FlowNodeLoaded() | ApiRequestSucceeded() | ApiRequestFailed():
            is_expected = event.request == state.request
            return flow.on_result(call, event, now) if is_expected else (call, ())
        case ActionReceived(request, action) if request == state.request:
            return replace(call, state=Advance(action, "reply")), prefetch(action)
        case ActionFailed(request, reason) if request == state.request:
            return use_fallback(call, state, reason), ()
        case DeadlinePassed():
            return use_fallback(call, state, "timeout"), ()
        case Recovered():
            return replace(call, state=replace(state, deadline_ms=now + WEBHOOK_TIMEOUT_MS)), ()
        case _:
            return call, ()


def resume(call: Call, state: AwaitingInstructions, now: int) -> Call:
    """Wait again after a conversation; a webhook that failed meanwhile has its effect now."""
    if state.failure:
        return use_fallback(call, state, state.failure)
    return replace(call, state=replace(state, deadline_ms=now + WEBHOOK_TIMEOUT_MS))


def prefetch(action: Action | None) -> tuple[PrefetchMedia, ...]:
    """Return the command that fetches an action's audio, if it has any."""
    sources = audio_sources(action)
    return (PrefetchMedia(sources),) if sources else ()


def use_fallback(call: Call, state: AwaitingInstructions, reason: str) -> Call:
    """Advance to the fallback; without one, the rest of the tree is dropped.

    A flow that another one runs is followed by the next node there.
    The action of a bot is a tree of its own: the bot's stream continues.
    """
    if state.is_api:
        return replace(flow.fail_request(call, reason), state=Advance(None, "flow"))
    if state.is_flow and flow.has_next(call):
        return replace(call, state=Advance(None, "flow"))
    streams = [each for each in call.continuation if isinstance(each, SuspendedStream)]
    if state.fallback is None and streams:
        rest = call.continuation[call.continuation.index(streams[0]) :]
        return replace(call, continuation=rest, state=Advance(None, "reply"))
    if state.fallback is None:
        code, _, _detail = reason.partition(":")  # the detail quotes the customer's server
        why = f"action_failed:{code}"
        call = replace(call, continuation=(), reason=why, cause=causes.INTERWORKING)
    return replace(call, state=Advance(state.fallback, "reply"))
