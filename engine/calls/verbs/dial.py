"""dial: calls one or more parties; the first to answer and to pass its screening is bridged."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import (
    Call,
    Step,
    allocate_id,
    full_party,
    originate,
    ring_deadline_ms,
    with_leg,
)
from engine.calls.model.call_states import Advance, Bridged, Dialing
from engine.calls.model.commands import Command, Hangup
from engine.calls.model.events import (
    BridgeFailed,
    DeadlinePassed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
)
from engine.calls.model.leg import Leg
from engine.calls.reporting.call_events import emit_leg
from engine.calls.verbs import screening
from engine.calls.verbs.type_ahead import drop_earlier
from wire.answer_detection import AnsweredBy
from wire.party import Party
from wire.verbs import Dial, DialData
from wire.webhooks import DialResult

RING_S = 60.0  # a float, as msgpack decodes it: replaying a log must give identical bytes


def start(call: Call, verb: Dial, now: int) -> Step:
    """Call every party; the main leg hears hold music or ringing meanwhile (`media.plan`)."""
    ring_s = verb.timeout or RING_S
    legs: list[str] = []
    commands: list[Command] = []
    for party in parties(call, verb):
        call, leg_id = allocate_id(call, "l")
        leg = Leg(
            leg_id, party, "requested", now,
            agent_id=_agent_id(verb, party), reference_id=verb.data.reference_id,
            ring_timeout_s=ring_s, caller_id=verb.data.caller_id or "",
        )  # fmt: skip
        call, emitted = emit_leg(with_leg(call, leg), "leg-initiated", leg, now)
        commands += [emitted, originate(call, leg_id, party, verb.data.caller_id or "")]
        legs.append(leg_id)
    deadline_ms = now + int(ring_s * 1000)
    bridge = ""
    if len(legs) == 1 and _has_early_media(call, verb):
        call, bridge = allocate_id(call, "b")
    state = Dialing(verb, tuple(legs), deadline_ms, bridge=bridge)
    return replace(call, state=state), tuple(commands)


def _has_early_media(call: Call, verb: Dial) -> bool:
    """Return whether the caller hears the called party before its answer.

    In a bridge of both, Asterisk answers the caller with the called party. So one who is not
    answered yet hears ringing instead if the party is screened first.
    """
    answers_early = call.awaits_answer and screening.is_wanted(verb.data)
    return verb.data.early_media and not verb.has_music and not answers_early


def on_event(call: Call, state: Dialing, event: Event, now: int) -> Step:
    """Bridge the first leg that passes its screening; advance when no leg or no time is left."""
    match event:
        case LegCreated(leg) if leg in state.legs:
            ring_until_ms = ring_deadline_ms(call, leg, now, state.deadline_ms)
            deadline_ms = max(state.deadline_ms, ring_until_ms)
            return replace(call, state=replace(state, deadline_ms=deadline_ms)), ()
        case LegAnswered(leg) if leg in state.ringing:
            return _apply_outcome(state, leg, screening.start(call, state.verb.data, leg, now), now)
        case LegEnded(leg, cause, reason=reason) if leg in state.legs:
            state = replace(state, reason=reason or state.reason)
            return _drop_leg(call, state, leg, cause, now)
        case BridgeFailed() if _is_bridge_lost(call, state, event):
            return replace(call, state=replace(state, bridge="")), ()  # ringing instead
        case DeadlinePassed() if not state.screenings:
            return _fail(call, state, "no-answer", causes.NO_ANSWER, now)
        case _:
            call, commands = _run_screenings(call, state, event, now)
            call, hangups = _expire_ringing(call, now)
            return call, (*commands, *hangups)


def _is_bridge_lost(call: Call, state: Dialing, event: BridgeFailed) -> bool:
    """Return whether the legs were not bridged: an earlier one may have ended as it was."""
    return event.bridge == state.bridge and {call.main, *state.legs}.issuperset(event.legs)


def suspend(call: Call, state: Dialing, leg: str, now: int) -> Step:
    """Suspend the screening of a leg whose phone holds."""
    step = screening.suspend(call, state.verb.data, state.screening(leg), now)
    return _apply_outcome(state, leg, step, now)


def resume(call: Call, state: Dialing, leg: str, now: int) -> Step:
    """Continue the screening of a leg whose phone resumes."""
    step = screening.resume(call, state.verb.data, state.screening(leg), now)
    return _apply_outcome(state, leg, step, now)


def _run_screenings(call: Call, state: Dialing, event: Event, now: int) -> Step:
    """Let the legs that are being screened react to an event."""
    commands: tuple[Command, ...] = ()
    for each in state.screenings:
        step = screening.on_event(call, state.verb.data, each, event, now)
        if isinstance(call.state, Dialing) and step[1] is not each:
            call, more = _apply_outcome(call.state, each.leg, step, now)
            commands += more
    return call, commands


def _apply_outcome(state: Dialing, leg: str, step: screening.ScreeningStep, now: int) -> Step:
    """Connect a leg, drop it, or continue its screening."""
    call, outcome, commands = step
    others = tuple(each for each in state.screenings if each.leg != leg)
    state = replace(state, screenings=others, answered_by=_answered_by(call, leg, state))
    match outcome:
        case "connect":
            call, more = _connect(call, state, leg, now)
        case "refuse":
            call, more = _drop_leg(call, state, leg, causes.REJECTED, now)
            more = (*more, Hangup(leg, causes.REJECTED))
        case current:
            screened = replace(state, screenings=(*others, current), bridge="")
            call, more = replace(call, state=screened), ()
    return call, (*commands, *more)


def _drop_leg(call: Call, state: Dialing, leg: str, cause: int, now: int) -> Step:
    """Continue without a leg; without any, the dial has failed."""
    state = replace(
        state,
        legs=tuple(each for each in state.legs if each != leg),
        screenings=tuple(each for each in state.screenings if each.leg != leg),
        cause=_stronger_cause(state.cause, cause),
    )
    if state.legs:
        return replace(call, state=state), ()
    return _fail(call, state, causes.unanswered_status(state.cause), state.cause, now)


def _expire_ringing(call: Call, now: int) -> Step:
    """Hang up the legs that have not answered in time, while others are being screened."""
    state = call.state
    if not isinstance(state, Dialing) or not state.screenings or now < state.deadline_ms:
        return call, ()
    hangups = tuple(Hangup(leg, causes.NO_ANSWER) for leg in state.ringing)
    if not hangups:
        return call, ()
    answered = tuple(each.leg for each in state.screenings)
    cause = _stronger_cause(state.cause, causes.NO_ANSWER)
    return replace(call, state=replace(state, legs=answered, cause=cause)), hangups


def parties(call: Call, verb: Dial) -> tuple[str, ...]:
    """Return the parties that a dial calls: its numbers, or else its agent."""
    match verb.data.number:
        case None:
            return (str(Party.agent(verb.data.agent_id or "")),)
        case str(number):
            return (full_party(call, number),)
        case numbers:
            return tuple(dict.fromkeys(full_party(call, each) for each in numbers))


def dial_data(party: str) -> DialData:
    """Return the data of a dial to one party: `agent:1001`, a number or a sip: address."""
    agent_id = Party.parse(party).agent_id
    return DialData(number=party) if agent_id is None else DialData(agent_id=agent_id)


def _connect(call: Call, state: Dialing, winner: str, now: int) -> Step:
    bridge = state.bridge  # early media continues without a gap
    if not bridge:
        call, bridge = allocate_id(call, "b")
    limit_s = state.verb.data.time_limit
    deadline_ms = now + int(limit_s * 1000) if limit_s else call.must_end_ms
    number = _reached_number(call, state.verb, winner)
    bridged = Bridged(
        state.verb, winner, (winner,), bridge, now, deadline_ms, number,
        answered_by=state.answered_by,
    )  # fmt: skip
    hangups = tuple(_hang_up_loser(call, leg) for leg in state.legs if leg != winner)
    return replace(call, state=bridged), hangups


def _hang_up_loser(call: Call, leg: str) -> Hangup:
    """Hang up a leg after another one has answered; its phone then shows no missed call."""
    return Hangup(leg, causes.NORMAL if call.is_up(leg) else causes.ANSWERED_ELSEWHERE)


def _fail(call: Call, state: Dialing, status: causes.Status, cause: int, now: int) -> Step:
    call = drop_earlier(call, call.main, now)
    data = state.verb.data
    result = DialResult(
        status=status,
        cause=cause,
        number=_first_number(call, state.verb),
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


def _agent_id(verb: Dial, party: str) -> str | None:
    """Return the agent of a leg: the one that is called, or that the dial names."""
    return Party.parse(party).agent_id or verb.data.agent_id


def _reached_number(call: Call, verb: Dial, leg_id: str) -> str | None:
    leg = call.leg(leg_id)
    return leg.party if leg is not None and verb.data.number is not None else None


def _first_number(call: Call, verb: Dial) -> str | None:
    return None if verb.data.number is None else parties(call, verb)[0]


def _stronger_cause(first: int, second: int) -> int:
    """Return the more informative of two causes: busy, then no answer."""
    ranking = (causes.BUSY, causes.NO_ANSWER, causes.NO_USER_RESPONSE)
    return next((cause for cause in ranking if cause in {first, second}), second or first)
