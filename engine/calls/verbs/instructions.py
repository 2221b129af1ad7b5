"""Asking what to do next: a customer's webhook, or a stored flow; then that runs."""

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.flows.prefetch import wanted
from engine.calls.model.call import Call, Step, numbered
from engine.calls.model.events import DeadlinePassed, Event, Recovered
from engine.calls.model.io_commands import AskWebhook, Prefetch
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReplied,
    ApiAnswered,
    ApiFailed,
    FlowEntered,
    NodeLoaded,
)
from engine.calls.model.state import Asking, Next
from engine.calls.verbs import flow
from wire.verbs import Action
from wire.webhooks import ActionRequest

WEBHOOK_MS = 17_000  # 15 s in all (design section 7), and a little for our own way
REASON_CHARS = 200  # it quotes what the customer's server said, of any length


def start_url(call: Call, url: str, after: Next, now: int) -> Step:
    """Ask an address for the next action, telling it what has just ended."""
    call, request = numbered(call, "r")
    body = ActionRequest(
        call_id=call.id,
        event=after.event,
        from_=call.from_,
        to=call.to,
        direction=call.direction,
        account_id=call.account,
        channel_id=call.main,
        dial=after.dial,
        answered_by=call.answered_by,
        custom_data=call.custom_data,
    )
    asking = Asking(request, now + WEBHOOK_MS, after.fallback)
    return replace(call, doing=asking), (AskWebhook(request, url, to_json(body)),)


def on_event(call: Call, doing: Asking, event: Event, now: int) -> Step:
    """Run what was answered; without an answer, the fallback; without one, hang up."""
    match event:
        case FlowEntered() | NodeLoaded() | ApiAnswered() | ApiFailed():
            return flow.on_told(call, event, now) if event.request == doing.request else (call, ())
        case ActionReplied(request, action) if request == doing.request:
            return replace(call, doing=Next(action, "reply")), prefetched(action)
        case ActionFailed(request, reason) if request == doing.request:
            return failed(call, doing, reason), ()
        case DeadlinePassed():
            return failed(call, doing, "timeout"), ()
        case Recovered():
            return replace(call, doing=replace(doing, deadline_ms=now + WEBHOOK_MS)), ()
        case _:
            return call, ()


def prefetched(action: Action | None) -> tuple[Prefetch, ...]:
    """Ask for the audio that an answer will want."""
    sources = wanted(action)
    return (Prefetch(sources),) if sources else ()


def failed(call: Call, doing: Asking, reason: str) -> Call:
    """Go on without an answer: the fallback; without one, nothing more of the tree."""
    if doing.is_api:
        return replace(flow.failed(call, reason), doing=Next(None, "flow"))
    if doing.fallback is None:
        call = replace(call, rest=(), reason=f"action_failed:{reason[:REASON_CHARS]}")
    return replace(call, doing=Next(doing.fallback, "reply"))
