"""step(call, event, now) -> (call, commands): the whole logic of a call, as one pure function.

First the rules that hold during anything (a leg comes or goes, a hangup, the end), then each
state's own.
"""

from typing import Literal

from msgspec.structs import replace

from engine.calls import causes
from engine.calls.call import Call, Step, expects, with_leg, without_leg
from engine.calls.commands import Command, DestroyBridge, Hangup, Ring
from engine.calls.doing import (
    Asking,
    Dialing,
    Ending,
    Gathering,
    Next,
    Over,
    Playing,
    Starting,
    Talking,
)
from engine.calls.events import (
    DeadlinePassed,
    Event,
    HangupRequested,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
)
from engine.calls.leg import Leg
from engine.calls.telling import tell, tell_leg, tell_leg_ended
from engine.calls.verbs import ask, begin, dial, end, gather, play
from wire import verbs
from wire.events import Kind
from wire.verbs import Action, Verb

LegMoved = LegPlaced | LegRang | LegAnswered

MOST_VERBS = 1_000  # a webhook that answers for ever ends here, loudly
MOST_FLOWS = 50  # so does a flow that runs itself: each waits for the one within


def step(call: Call, event: Event, now: int) -> Step:
    """Give the call as the event leaves it, and what must be done about it; `now` in ms."""
    if call.is_over:
        return call, _refused(event)
    match event:
        case LegPlaced(leg) | LegRang(leg) | LegAnswered(leg):
            return _leg_moved(call, call.leg(leg), event, now)
        case LegEnded(leg):
            return _leg_ended(call, call.leg(leg), event, now)
        case HangupRequested(by, cause) if not isinstance(call.doing, Ending):
            return _ended(call, now, by, cause)
        case DeadlinePassed() if now >= call.latest_ms and not isinstance(call.doing, Ending):
            return _ended(replace(call, reason="longest_call"), now, "system", causes.NORMAL)
        case _:
            return _do(call, (), event, now)


def _refused(event: Event) -> tuple[Command, ...]:
    match event:
        case LegPlaced(leg) | LegRang(leg) | LegAnswered(leg):
            return (Hangup(leg, causes.NORMAL),)
        case _:
            return ()


def _leg_moved(call: Call, leg: Leg | None, event: LegMoved, now: int) -> Step:
    if leg is None or not expects(call, leg.id):
        return call, (Hangup(event.leg, causes.NORMAL),)
    call, told = _marked(call, leg, event, now)
    return _do(call, told, event, now)


def _marked(call: Call, leg: Leg, event: LegMoved, now: int) -> Step:
    match event:
        case LegPlaced() if leg.state == "requested":
            ring = Ring(leg.id, int(leg.ring_s))
            return with_leg(call, replace(leg, state="placed")), (ring,)
        case LegRang() if leg.state in {"requested", "placed"}:
            leg = replace(leg, state="ringing")
            if leg.id == call.main:
                call = replace(call, status="ringing")
            return _told(with_leg(call, leg), "ringing", leg, now)
        case LegAnswered() if leg.state != "up":
            leg = replace(leg, state="up", answered_ms=now)
            if leg.id == call.main:
                call = replace(call, status="in-progress", answered_ms=now)
            return _told(with_leg(call, leg), "answered", leg, now)
        case _:
            return call, ()


def _told(call: Call, fact: Literal["ringing", "answered"], leg: Leg, now: int) -> Step:
    if leg.id == call.main:
        call, told = tell(call, fact, now, channel_id=leg.id, party=leg.party)
    else:
        kind: Kind = "leg-ringing" if fact == "ringing" else "leg-answered"
        call, told = tell_leg(call, kind, leg, now)
    return call, (told,)


def _leg_ended(call: Call, leg: Leg | None, event: LegEnded, now: int) -> Step:
    if leg is None:
        return call, ()
    if leg.id != call.main:
        wanted = expects(call, leg.id)
        call, told = tell_leg_ended(without_leg(call, leg.id), leg, event, wanted, now)
        return _do(call, (told,), event, now)
    call = without_leg(call, leg.id)
    if isinstance(call.doing, Ending):
        return _do(call, (), event, now)
    if event.cause == causes.LOST:
        lost = replace(call, reason=causes.reason(causes.LOST))
        return _ended(lost, now, "system", causes.TEMPORARY_FAILURE)
    call = replace(call, cause=event.cause, sip_code=event.sip_code)
    by = "caller" if call.direction == "inbound" else "callee"
    return _ended(call, now, by, event.cause)


def _ended(call: Call, now: int, by: str, cause: int) -> Step:
    commands: tuple[Command, ...] = ()
    match call.doing:
        case Talking(bridge=bridge):
            commands = (DestroyBridge(bridge),)
        case Gathering() as doing if call.leg(call.main) is None:
            call, commands = gather.abandon(call, doing, now)
        case _:
            pass
    call, hangups = end.start(call, now, by, cause)
    return call, (*commands, *hangups)


def _do(call: Call, before: tuple[Command, ...], event: Event, now: int) -> Step:
    call, commands = _moved(call, event, now)
    return _settled(call, (*before, *commands), now)


def _moved(call: Call, event: Event, now: int) -> Step:
    match call.doing:
        case Playing() as doing:
            return play.on_event(call, doing, event, now)
        case Gathering() as doing:
            return gather.on_event(call, doing, event, now)
        case Asking() as doing:
            return ask.on_event(call, doing, event, now)
        case Dialing() as doing:
            return dial.on_ringing(call, doing, event, now)
        case Talking() as doing:
            return dial.on_talking(call, doing, event, now)
        case Starting() as doing:
            return begin.on_event(call, doing, event, now)
        case Ending() as doing:
            return end.on_event(call, doing, event, now)
        case Next() | Over():
            return call, ()


def _settled(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    while isinstance(call.doing, Next):
        call, more = _begin(call, call.doing, now)
        commands = (*commands, *more)
    return call, commands


def _begin(call: Call, after: Next, now: int) -> Step:
    if call.verbs >= MOST_VERBS:
        return end.start(replace(call, reason="too_many_verbs"), now, "system")
    call = replace(call, verbs=call.verbs + 1)
    match after.action:
        case None if call.rest:
            return replace(call, doing=Next(call.rest[0], "flow"), rest=call.rest[1:]), ()
        case None:
            return end.start(call, now, "action")
        case str(url):
            return ask.start_url(call, url, after, now)
        case verb:
            return _run(call, verb, now)


def _run(call: Call, verb: Verb, now: int) -> Step:
    match verb:
        case verbs.Play() | verbs.Say():
            return play.start(call, verb, now)
        case verbs.Gather():
            return gather.start(call, verb, now)
        case verbs.Flow(data=data):
            return _run_flow(call, data.flow_id, verb.action, now)
        case verbs.Dial(data=data) if data.flow_id is not None:
            return _run_flow(call, data.flow_id, verb.action, now)
        case verbs.Dial():
            return dial.start(call, verb, now)
        case verbs.Hangup():
            return end.start(call, now, "action")


def _run_flow(call: Call, flow_id: str, action: Action | None, now: int) -> Step:
    if len(call.rest) >= MOST_FLOWS:
        return end.start(replace(call, reason="too_many_flows"), now, "system")
    if action is not None:
        call = replace(call, rest=(action, *call.rest))
    return ask.start_flow(call, flow_id, now)
