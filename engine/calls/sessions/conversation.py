"""The conversation that a dial leads to: parties come and go; it ends when one is left."""

from msgspec.structs import replace

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.commands import AddToBridge, Hangup
from engine.calls.model.events import BridgeFailed, DeadlinePassed, Event
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReceived,
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
)
from engine.calls.model.state import Advance, Bridged
from engine.calls.session_end import end_sessions, release_leg
from engine.calls.verbs import flow, instructions
from wire.verbs import Action
from wire.webhooks import DialResult


def on_event(call: Call, doing: Bridged, event: Event, now: int) -> Step:
    """End it when its time is up; mend a bridge; keep an answer that comes meanwhile."""
    match event:
        case DeadlinePassed():
            return hang_up_parties(call, doing, doing.legs, now)
        case BridgeFailed(bridge, legs=legs) if bridge == doing.bridge:
            return _unjoined(call, doing, legs, now)
        case ActionReceived(request, action) if (
            doing.awaiting and request == doing.awaiting.request
        ):
            return replace(call, state=_then(doing, action)), instructions.prefetch(action)
        case ActionFailed(request, reason) if doing.awaiting and request == doing.awaiting.request:
            call = instructions.use_fallback(call, doing.awaiting, reason)
            return replace(call, state=_then(doing, doing.awaiting.fallback)), ()
        case FlowStarted() | FlowNodeLoaded() | ApiRequestSucceeded() | ApiRequestFailed() if (
            doing.awaiting
        ):
            return _told(call, doing, event), ()
        case _:
            return call, ()


def _told(call: Call, doing: Bridged, event: flow.FlowResult) -> Call:
    """Let a flow know what it waited for; it goes on after the conversation."""
    if doing.awaiting is None or event.request != doing.awaiting.request:
        return call
    return replace(flow.apply_result(call, event), state=_then(doing, None))


def _unjoined(call: Call, doing: Bridged, legs: tuple[str, ...], now: int) -> Step:
    """Join legs without those who belong elsewhere by now; put out who can't be joined."""
    here = desired_media(call)
    left = tuple(leg for leg in legs if here.get(leg, UNBRIDGED).bridge == doing.bridge)
    if left != legs:
        return call, (AddToBridge(doing.bridge, left),) if left else ()
    lost = tuple(leg for leg in doing.legs if leg in legs)
    return hang_up_parties(call, doing, doing.legs if call.main in legs else lost, now)


def _then(doing: Bridged, action: Action | None) -> Bridged:
    return replace(doing, verb=replace(doing.verb, action=action), awaiting=None)


def hang_up_parties(call: Call, doing: Bridged, legs: tuple[str, ...], now: int) -> Step:
    """Put parties out."""
    hangups = tuple(Hangup(leg, causes.NORMAL) for leg in legs)
    call, commands = drop_parties(call, doing, legs, causes.NORMAL, now)
    return call, (*(each for each in commands if each not in hangups), *hangups)


def drop_parties(call: Call, doing: Bridged, gone: tuple[str, ...], cause: int, now: int) -> Step:
    """Go on without parties that have left, none of them the main one."""
    left = tuple(leg for leg in doing.legs if leg not in gone)
    if left:
        return replace(call, state=replace(doing, legs=left)), ()
    return end(call, doing, "completed", cause, now)


def end(call: Call, doing: Bridged, status: str, cause: int, now: int) -> Step:
    """End the conversation: the tree goes on with the main leg, which nobody holds any more."""
    call, told = end_sessions(call, "conversation_ended", now)
    call, more = release_leg(call, call.main, now)
    told += more
    if doing.awaiting is not None:
        return replace(
            call, state=replace(doing.awaiting, deadline_ms=now + instructions.WEBHOOK_TIMEOUT_MS)
        ), told
    data = doing.verb.data
    result = DialResult(
        status=status,
        cause=cause,
        duration=(now - doing.since_ms) // 1000,
        number=doing.number,
        channel_id=doing.leg,
        answered_by=doing.answered_by,
        agent_id=data.agent_id,
        reference_id=data.reference_id,
    )
    return replace(call, state=Advance(doing.verb.action, "dial", result)), told
