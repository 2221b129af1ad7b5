"""dial: call one or several parties; the first to answer, once greeted, is talked to, in `talk`."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id, ring_deadline_ms, with_leg
from engine.calls.model.commands import Command, Hangup, Originate
from engine.calls.model.events import DeadlinePassed, Event, LegAnswered, LegCreated, LegEnded
from engine.calls.model.leg import Leg
from engine.calls.model.state import Advance, Bridged, Dialing
from engine.calls.reporting.call_events import emit_leg
from engine.calls.verbs import screening
from wire.answer_detection import AnsweredBy
from wire.verbs import Dial, DialData
from wire.webhooks import DialResult

RING_S = 60.0  # as it is read back: a log must lead to its record to the byte


def start(call: Call, verb: Dial, now: int) -> Step:
    """Call every party; who waits hears music or ringing (`seating`)."""
    ring_s = verb.timeout or RING_S
    legs: list[str] = []
    commands: list[Command] = []
    for party in parties(verb):
        call, leg_id = allocate_id(call, "l")
        leg = Leg(
            leg_id, party, "requested", now,
            agent_id=verb.data.agent_id, reference_id=verb.data.reference_id, ring_timeout_s=ring_s,
        )  # fmt: skip
        call, told = emit_leg(with_leg(call, leg), "leg-initiated", leg, now)
        caller_id = verb.data.caller_id or call.caller_id
        commands += [told, Originate(leg_id, party, caller_id)]
        legs.append(leg_id)
    deadline = now + int(ring_s * 1000)
    return replace(call, state=Dialing(verb, tuple(legs), deadline)), tuple(commands)


def on_event(call: Call, doing: Dialing, event: Event, now: int) -> Step:
    """Talk to the first that is through its greeting; go on when none is left or time is up."""
    match event:
        case LegCreated(leg) if leg in doing.legs:
            until = max(doing.deadline_ms, ring_deadline_ms(call, leg, now, doing.deadline_ms))
            return replace(call, state=replace(doing, deadline_ms=until)), ()
        case LegAnswered(leg) if leg in doing.ringing:
            return _apply_outcome(doing, leg, screening.start(call, doing.verb.data, leg, now), now)
        case LegEnded(leg, cause, reason=reason) if leg in doing.legs:
            doing = replace(doing, reason=reason or doing.reason)
            return _drop_leg(call, doing, leg, cause)
        case DeadlinePassed() if not doing.screenings:
            return _fail(call, doing, "no-answer", causes.NO_ANSWER)
        case _:
            call, commands = _run_screenings(call, doing, event, now)
            call, hangups = _expire_ringing(call, now)
            return call, (*commands, *hangups)


def _run_screenings(call: Call, doing: Dialing, event: Event, now: int) -> Step:
    """Let those who have answered, and are not connected yet, have their part of an event."""
    commands: tuple[Command, ...] = ()
    for greeting in doing.screenings:
        moved = screening.on_event(call, doing.verb.data, greeting, event, now)
        if isinstance(call.state, Dialing) and moved[1] is not greeting:
            call, more = _apply_outcome(call.state, greeting.leg, moved, now)
            commands += more
    return call, commands


def _apply_outcome(doing: Dialing, leg: str, greeted: screening.ScreeningStep, now: int) -> Step:
    """Connect a leg that has been greeted, or go on without it; or wait until that is known."""
    call, outcome, commands = greeted
    others = tuple(each for each in doing.screenings if each.leg != leg)
    doing = replace(doing, screenings=others, answered_by=_answered_by(call, leg, doing))
    match outcome:
        case "connect":
            call, more = _connect(call, doing, leg, now)
        case "refuse":
            call, more = _drop_leg(call, doing, leg, causes.REJECTED)
            more = (*more, Hangup(leg, causes.REJECTED))
        case greeting:
            call, more = replace(call, state=replace(doing, screenings=(*others, greeting))), ()
    return call, (*commands, *more)


def _drop_leg(call: Call, doing: Dialing, leg: str, cause: int) -> Step:
    """Go on without a leg, if there are others."""
    doing = replace(
        doing,
        legs=tuple(each for each in doing.legs if each != leg),
        screenings=tuple(each for each in doing.screenings if each.leg != leg),
        cause=_stronger_cause(doing.cause, cause),
    )
    if doing.legs:
        return replace(call, state=doing), ()
    return _fail(call, doing, causes.unanswered_status(doing.cause), doing.cause)


def _expire_ringing(call: Call, now: int) -> Step:
    """Give up those who have not answered in time, while others are greeted."""
    doing = call.state
    if not isinstance(doing, Dialing) or not doing.screenings or now < doing.deadline_ms:
        return call, ()
    hangups = tuple(Hangup(leg, causes.NO_ANSWER) for leg in doing.ringing)
    if not hangups:
        return call, ()
    left = tuple(each.leg for each in doing.screenings)
    cause = _stronger_cause(doing.cause, causes.NO_ANSWER)
    return replace(call, state=replace(doing, legs=left, cause=cause)), hangups


def parties(verb: Dial) -> tuple[str, ...]:
    """List whom a dial calls: its numbers, or else its agent."""
    match verb.data.number:
        case None:
            return (f"agent:{verb.data.agent_id}",)
        case str(number):
            return (number,)
        case numbers:
            return tuple(dict.fromkeys(numbers))


def dial_data(party: str) -> DialData:
    """Give the data of a dial that calls one party: `agent:1001`, a number or a sip: address."""
    if party.startswith("agent:"):
        return DialData(agent_id=party.removeprefix("agent:"))
    return DialData(number=party)


def _connect(call: Call, doing: Dialing, winner: str, now: int) -> Step:
    call, bridge = allocate_id(call, "b")
    limit_s = doing.verb.data.time_limit
    deadline = now + int(limit_s * 1000) if limit_s else call.must_end_ms
    number = _reached_number(call, doing.verb, winner)
    talking = Bridged(
        doing.verb, winner, (winner,), bridge, now, deadline, number,
        answered_by=doing.answered_by,
    )  # fmt: skip
    losers = tuple(Hangup(leg, causes.NORMAL) for leg in doing.legs if leg != winner)
    return replace(call, state=talking), losers


def _fail(call: Call, doing: Dialing, status: str, cause: int) -> Step:
    data = doing.verb.data
    result = DialResult(
        status=status,
        cause=cause,
        number=_first_number(doing.verb),
        answered_by=doing.answered_by,
        agent_id=data.agent_id,
        reference_id=data.reference_id,
        reason=doing.reason or None if status == "failed" else None,
    )
    hangups = tuple(Hangup(leg, cause) for leg in doing.legs)
    return replace(call, state=Advance(doing.verb.action, "dial", result)), hangups


def _answered_by(call: Call, leg_id: str, doing: Dialing) -> AnsweredBy | None:
    leg = call.leg(leg_id)
    return (leg.answered_by if leg else None) or doing.answered_by


def _reached_number(call: Call, verb: Dial, leg_id: str) -> str | None:
    leg = call.leg(leg_id)
    return leg.party if leg is not None and verb.data.number is not None else None


def _first_number(verb: Dial) -> str | None:
    number = verb.data.number
    return number if number is None or isinstance(number, str) else number[0]


def _stronger_cause(first: int, second: int) -> int:
    """Of several parties that did not answer, tell the cause that says most: busy, then silence."""
    ranks = (causes.BUSY, causes.NO_ANSWER, causes.NO_USER_RESPONSE)
    return next((cause for cause in ranks if cause in {first, second}), second or first)
