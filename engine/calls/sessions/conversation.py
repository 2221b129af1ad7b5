"""The conversation that a dial leads to: parties come and go; it ends when one is left."""

from msgspec.structs import replace

from engine.calls.media.plan import OUTSIDE, seats
from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.commands import Bridge, Hangup
from engine.calls.model.events import BridgeFailed, DeadlinePassed, Event
from engine.calls.model.io_results import (
    ActionFailed,
    ActionReplied,
    ApiAnswered,
    ApiFailed,
    FlowEntered,
    NodeLoaded,
)
from engine.calls.model.state import Next, Talking
from engine.calls.session_end import closed, freed
from engine.calls.verbs import flow, instructions
from wire.verbs import Action
from wire.webhooks import DialResult


def on_event(call: Call, doing: Talking, event: Event, now: int) -> Step:
    """End it when its time is up; mend a bridge; keep an answer that comes meanwhile."""
    match event:
        case DeadlinePassed():
            return dismissed(call, doing, doing.legs, now)
        case BridgeFailed(bridge, legs=legs) if bridge == doing.bridge:
            return _unjoined(call, doing, legs, now)
        case ActionReplied(request, action) if doing.asking and request == doing.asking.request:
            return replace(call, doing=_then(doing, action)), instructions.prefetched(action)
        case ActionFailed(request, reason) if doing.asking and request == doing.asking.request:
            call = instructions.failed(call, doing.asking, reason)
            return replace(call, doing=_then(doing, doing.asking.fallback)), ()
        case FlowEntered() | NodeLoaded() | ApiAnswered() | ApiFailed() if doing.asking:
            return _told(call, doing, event), ()
        case _:
            return call, ()


def _told(call: Call, doing: Talking, event: flow.Told) -> Call:
    """Let a flow know what it waited for; it goes on after the conversation."""
    if doing.asking is None or event.request != doing.asking.request:
        return call
    return replace(flow.noted(call, event), doing=_then(doing, None))


def _unjoined(call: Call, doing: Talking, legs: tuple[str, ...], now: int) -> Step:
    """Join legs without those who belong elsewhere by now; put out who can't be joined."""
    here = seats(call)
    left = tuple(leg for leg in legs if here.get(leg, OUTSIDE).bridge == doing.bridge)
    if left != legs:
        return call, (Bridge(doing.bridge, left),) if left else ()
    lost = tuple(leg for leg in doing.legs if leg in legs)
    return dismissed(call, doing, doing.legs if call.main in legs else lost, now)


def _then(doing: Talking, action: Action | None) -> Talking:
    return replace(doing, verb=replace(doing.verb, action=action), asking=None)


def dismissed(call: Call, doing: Talking, legs: tuple[str, ...], now: int) -> Step:
    """Put parties out."""
    hangups = tuple(Hangup(leg, causes.NORMAL) for leg in legs)
    call, commands = without(call, doing, legs, causes.NORMAL, now)
    return call, (*(each for each in commands if each not in hangups), *hangups)


def without(call: Call, doing: Talking, gone: tuple[str, ...], cause: int, now: int) -> Step:
    """Go on without parties that have left, none of them the main one."""
    left = tuple(leg for leg in doing.legs if leg not in gone)
    if left:
        return replace(call, doing=replace(doing, legs=left)), ()
    return part(call, doing, "completed", cause, now)


def part(call: Call, doing: Talking, status: str, cause: int, now: int) -> Step:
    """End the conversation: the tree goes on with the main leg, which nobody holds any more."""
    call, told = closed(call, "conversation_ended", now)
    call, more = freed(call, call.main, now)
    told += more
    if doing.asking is not None:
        return replace(
            call, doing=replace(doing.asking, deadline_ms=now + instructions.WEBHOOK_MS)
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
    return replace(call, doing=Next(doing.verb.action, "dial", result)), told
