"""dial: call one or several parties, bridge the first to answer, go on when that leg has ended."""

from msgspec.structs import replace

from engine.calls import causes
from engine.calls.call import Call, Step, numbered, rings_until_ms, with_leg
from engine.calls.commands import (
    Bridge,
    Command,
    DestroyBridge,
    Hangup,
    Originate,
    StartMusic,
    StartRinging,
    StopMusic,
    StopRinging,
)
from engine.calls.doing import Dialing, Next, Talking
from engine.calls.events import (
    BridgeFailed,
    DeadlinePassed,
    Event,
    LegAnswered,
    LegEnded,
    LegPlaced,
    Recovered,
)
from engine.calls.leg import Leg
from engine.calls.telling import tell_leg
from wire.hooks import DialResult
from wire.verbs import Dial

RING_S = 60


def start(call: Call, verb: Dial, now: int) -> Step:
    """Call every party, and let the waiting leg hear music or ringing."""
    ring_s = verb.timeout or RING_S
    legs: list[str] = []
    commands: list[Command] = [_entertain(call, verb)]
    for party in parties(verb):
        call, leg_id = numbered(call, "l")
        leg = Leg(
            leg_id, party, "requested", now,
            agent_id=verb.data.agent_id, reference_id=verb.data.reference_id, ring_s=ring_s,
        )  # fmt: skip
        call, told = tell_leg(with_leg(call, leg), "leg-initiated", leg, now)
        caller_id = verb.data.caller_id or call.caller_id
        commands += [told, Originate(leg_id, party, caller_id)]
        legs.append(leg_id)
    deadline = now + int(ring_s * 1000)
    return replace(call, doing=Dialing(verb, tuple(legs), deadline)), tuple(commands)


def on_ringing(call: Call, doing: Dialing, event: Event, now: int) -> Step:
    """Bridge the first that answers; go on when none is left or the time is up."""
    match event:
        case LegPlaced(leg) if leg in doing.legs:
            until = rings_until_ms(call, leg, now, doing.deadline_ms)
            return replace(call, doing=replace(doing, deadline_ms=until)), ()
        case LegAnswered(leg) if leg in doing.legs:
            return _bridge(call, doing, leg, now)
        case LegEnded(leg, cause) if leg in doing.legs:
            left = tuple(each for each in doing.legs if each != leg)
            doing = replace(doing, legs=left, cause=_weightier(doing.cause, cause))
            if left:
                return replace(call, doing=doing), ()
            status = causes.unanswered(doing.cause)
            return _give_up(call, doing, status, doing.cause)
        case DeadlinePassed():
            return _give_up(call, doing, "no-answer", causes.NO_ANSWER)
        case _:
            return call, ()


def on_talking(call: Call, doing: Talking, event: Event, now: int) -> Step:
    """Go on when the bridged party has hung up, or its time is up."""
    match event:
        case LegEnded(leg, cause) if leg == doing.leg:
            return _part(call, doing, cause, now)
        case BridgeFailed(bridge) if bridge != doing.bridge:
            return call, ()
        case DeadlinePassed() | BridgeFailed():
            call, parted = _part(call, doing, causes.NORMAL, now)
            return call, (*parted, Hangup(doing.leg, causes.NORMAL))
        case Recovered(bridged):
            inside = [leg for leg, bridge in bridged if bridge == doing.bridge]
            missing = tuple(leg for leg in (call.main, doing.leg) if leg not in inside)
            return call, ((Bridge(doing.bridge, missing),) if missing else ())
        case _:
            return call, ()


def parties(verb: Dial) -> tuple[str, ...]:
    """List whom a dial calls: its numbers, or else its agent."""
    match verb.data.number:
        case None:
            return (f"agent:{verb.data.agent_id}",)
        case str(number):
            return (number,)
        case numbers:
            return tuple(dict.fromkeys(numbers))


def _bridge(call: Call, doing: Dialing, winner: str, now: int) -> Step:
    call, bridge = numbered(call, "b")
    limit_s = doing.verb.data.time_limit
    deadline = now + int(limit_s * 1000) if limit_s else call.latest_ms
    number = _number(call, doing.verb, winner)
    talking = Talking(doing.verb, winner, bridge, now, deadline, number)
    losers = (Hangup(leg, causes.NORMAL) for leg in doing.legs if leg != winner)
    joined = Bridge(bridge, (call.main, winner))
    return replace(call, doing=talking), (_calm(call, doing.verb), *losers, joined)


def _part(call: Call, doing: Talking, cause: int, now: int) -> Step:
    data = doing.verb.data
    result = DialResult(
        status="completed",
        cause=cause,
        duration=(now - doing.since_ms) // 1000,
        number=doing.number,
        channel_id=doing.leg,
        agent_id=data.agent_id,
        reference_id=data.reference_id,
    )
    after = Next(doing.verb.action, "dial", result)
    return replace(call, doing=after), (DestroyBridge(doing.bridge),)


def _give_up(call: Call, doing: Dialing, status: str, cause: int) -> Step:
    data = doing.verb.data
    result = DialResult(
        status=status,
        cause=cause,
        number=_first_number(doing.verb),
        agent_id=data.agent_id,
        reference_id=data.reference_id,
    )
    hangups = (Hangup(leg, cause) for leg in doing.legs)
    after = Next(doing.verb.action, "dial", result)
    return replace(call, doing=after), (*hangups, _calm(call, doing.verb))


def _entertain(call: Call, verb: Dial) -> Command:
    return StartMusic(call.main) if _has_music(verb) else StartRinging(call.main)


def _calm(call: Call, verb: Dial) -> Command:
    return StopMusic(call.main) if _has_music(verb) else StopRinging(call.main)


def _has_music(verb: Dial) -> bool:
    return (verb.moh or verb.data.moh).enable


def _number(call: Call, verb: Dial, leg_id: str) -> str | None:
    leg = call.leg(leg_id)
    return leg.party if leg is not None and verb.data.number is not None else None


def _first_number(verb: Dial) -> str | None:
    number = verb.data.number
    return number if number is None or isinstance(number, str) else number[0]


def _weightier(first: int, second: int) -> int:
    """Of several parties that did not answer, tell the cause that says most: busy, then silence."""
    ranks = (causes.BUSY, causes.NO_ANSWER, causes.NO_USER_RESPONSE)
    return next((cause for cause in ranks if cause in {first, second}), second or first)
