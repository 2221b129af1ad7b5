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
        call, emitted = emit_leg(with_leg(call, leg), "leg-initiated", leg, now)
        caller_id = verb.data.caller_id or call.caller_id
        commands += [emitted, Originate(leg_id, party, caller_id)]
        legs.append(leg_id)
    deadline = now + int(ring_s * 1000)
    return replace(call, state=Dialing(verb, tuple(legs), deadline)), tuple(commands)


def on_event(call: Call, state: Dialing, event: Event, now: int) -> Step:
    """Talk to the first that is through its greeting; go on when none is left or time is up."""
    match event:
        case LegCreated(leg) if leg in state.legs:
            until = max(state.deadline_ms, ring_deadline_ms(call, leg, now, state.deadline_ms))
            return replace(call, state=replace(state, deadline_ms=until)), ()
        case LegAnswered(leg) if leg in state.ringing:
            return _apply_outcome(state, leg, screening.start(call, state.verb.data, leg, now), now)
        case LegEnded(leg, cause, reason=reason) if leg in state.legs:
            state = replace(state, reason=reason or state.reason)
            return _drop_leg(call, state, leg, cause)
        case DeadlinePassed() if not state.screenings:
            return _fail(call, state, "no-answer", causes.NO_ANSWER)
        case _:
            call, commands = _run_screenings(call, state, event, now)
            call, hangups = _expire_ringing(call, now)
            return call, (*commands, *hangups)


def _run_screenings(call: Call, state: Dialing, event: Event, now: int) -> Step:
    """Let those who have answered, and are not connected yet, have their part of an event."""
    commands: tuple[Command, ...] = ()
    for greeting in state.screenings:
        moved = screening.on_event(call, state.verb.data, greeting, event, now)
        if isinstance(call.state, Dialing) and moved[1] is not greeting:
            call, more = _apply_outcome(call.state, greeting.leg, moved, now)
            commands += more
    return call, commands


def _apply_outcome(state: Dialing, leg: str, greeted: screening.ScreeningStep, now: int) -> Step:
    """Connect a leg that has been greeted, or go on without it; or wait until that is known."""
    call, outcome, commands = greeted
    others = tuple(each for each in state.screenings if each.leg != leg)
    state = replace(state, screenings=others, answered_by=_answered_by(call, leg, state))
    match outcome:
        case "connect":
            call, more = _connect(call, state, leg, now)
        case "refuse":
            call, more = _drop_leg(call, state, leg, causes.REJECTED)
            more = (*more, Hangup(leg, causes.REJECTED))
        case greeting:
            call, more = replace(call, state=replace(state, screenings=(*others, greeting))), ()
    return call, (*commands, *more)


def _drop_leg(call: Call, state: Dialing, leg: str, cause: int) -> Step:
    """Go on without a leg, if there are others."""
    state = replace(
        state,
        legs=tuple(each for each in state.legs if each != leg),
        screenings=tuple(each for each in state.screenings if each.leg != leg),
        cause=_stronger_cause(state.cause, cause),
    )
    if state.legs:
        return replace(call, state=state), ()
    return _fail(call, state, causes.unanswered_status(state.cause), state.cause)


def _expire_ringing(call: Call, now: int) -> Step:
    """Give up those who have not answered in time, while others are greeted."""
    state = call.state
    if not isinstance(state, Dialing) or not state.screenings or now < state.deadline_ms:
        return call, ()
    hangups = tuple(Hangup(leg, causes.NO_ANSWER) for leg in state.ringing)
    if not hangups:
        return call, ()
    left = tuple(each.leg for each in state.screenings)
    cause = _stronger_cause(state.cause, causes.NO_ANSWER)
    return replace(call, state=replace(state, legs=left, cause=cause)), hangups


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


def _connect(call: Call, state: Dialing, winner: str, now: int) -> Step:
    call, bridge = allocate_id(call, "b")
    limit_s = state.verb.data.time_limit
    deadline = now + int(limit_s * 1000) if limit_s else call.must_end_ms
    number = _reached_number(call, state.verb, winner)
    talking = Bridged(
        state.verb, winner, (winner,), bridge, now, deadline, number,
        answered_by=state.answered_by,
    )  # fmt: skip
    losers = tuple(Hangup(leg, causes.NORMAL) for leg in state.legs if leg != winner)
    return replace(call, state=talking), losers


def _fail(call: Call, state: Dialing, status: str, cause: int) -> Step:
    data = state.verb.data
    result = DialResult(
        status=status,
        cause=cause,
        number=_first_number(state.verb),
        answered_by=state.answered_by,
        agent_id=data.agent_id,
        reference_id=data.reference_id,
        reason=state.reason or None if status == "failed" else None,
    )
    hangups = tuple(Hangup(leg, cause) for leg in state.legs)
    return replace(call, state=Advance(state.verb.action, "dial", result)), hangups


def _answered_by(call: Call, leg_id: str, state: Dialing) -> AnsweredBy | None:
    leg = call.leg(leg_id)
    return (leg.answered_by if leg else None) or state.answered_by


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
