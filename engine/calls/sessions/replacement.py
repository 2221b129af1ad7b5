"""REFER with Replaces (RFC 3891): a phone that talks in two calls connects its two other parties.

In the call of the REFER this is a blind transfer by the phone's leg. Its target is one half of a
Local channel; the other half arrives in the phone's other call, where it takes the place of the
phone's leg: a blind transfer by that leg, whose target is answered at once. The answer passes
through the Local channel, and so completes the first transfer, too. A call that can't be joined
hangs up its half, which declines the REFER. (docs/decisions/0008.)

Asterisk may also replace a leg by itself, without asking: whatever the call does then, it goes on
with the leg that has arrived (`take_place`).

A phone can replace its own leg again and again, which costs it nothing: so a call has a limit.
"""

from typing import Annotated

from msgspec.structs import replace

from base.limit import Limit
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, agent_of, is_expected
from engine.calls.model.commands import Answer, AnswerRefer, Hangup, ReplacedLeg
from engine.calls.model.events import LegReplaced
from engine.calls.model.leg import Leg
from engine.calls.model.requests import ReferReceived, ReplacementArrived, TransferRequested
from engine.calls.sessions import leg_swap, transfer
from engine.calls.sessions.preconditions import check_request

# A takeover of the other call's slot fits in; the half of the Local channel waits in Stasis.
ANSWER_S = 10.0
MAX_REPLACEMENTS: Annotated[
    int, Limit("call", "the leg is hung up", "Legs that take the place of another in one call.")
] = 20


def on_refer(call: Call, event: ReferReceived, now: int) -> Step:
    """Connect to the phone's other call, or decline the REFER: then both calls stay as they are."""
    request = _request(call, event.leg, event.party)
    is_named = bool(event.replaced and event.replaced_app)
    is_known = is_named and call.leg(event.replaced) is None
    if not is_known or not _can_leave(call, request):
        return call, (AnswerRefer(event.leg, accepted=False),)
    party = _shown_party(call, request.customer)
    replaced = ReplacedLeg(event.replaced, event.replaced_app, call.account, party)
    call, commands = transfer.start(call, request, now, is_referred=True, replaces=replaced)
    return call, (AnswerRefer(event.leg, True, "in-progress"), *commands)


def on_arrival(call: Call, event: ReplacementArrived, now: int) -> Step:
    """Let the leg that has arrived take the place of the one that it replaces, or hang it up."""
    if _is_known(call, event.leg):
        return call, ()  # reported twice: by its event and by a recovery
    replaced = call.leg(event.replaced)
    request = _request(call, event.replaced, event.party)
    is_ours = replaced is not None and event.account == call.account
    if replaced is None or not is_ours or not _can_leave(call, request) or _is_at_limit(call):
        return call, (Hangup(event.leg, causes.REJECTED),)
    call, arrived = _arrive(call, event.leg, event.party, replaced, now)
    call, commands = transfer.start_with(call, request, arrived, now)
    return call, (*commands, Answer(event.leg))


def take_place(call: Call, event: LegReplaced, now: int) -> Step:
    """Let a leg take the place of another, which stays without a role until its end.

    If two parties talk, that is a transfer by the leg that it replaces.
    """
    replaced = call.leg(event.replaced)
    if _is_known(call, event.leg):
        return call, ()
    if replaced is None or not is_expected(call, event.replaced) or _is_at_limit(call):
        return call, (Hangup(event.leg, causes.REJECTED),)
    # Its party is not named: the number of the other call may be withheld.
    call, arrived = _arrive(call, event.leg, "", replaced, now)
    request = _request(call, event.replaced, party="")
    if _can_leave(call, request):
        return transfer.start_with(call, request, arrived, now)
    return leg_swap.swap(call, replaced, arrived, now)


def other_party(call: Call, leg: str) -> str:
    """Return the party that a leg talks to; empty if its number is withheld from other calls."""
    return _shown_party(call, _request(call, leg, party="").customer)


def _is_known(call: Call, leg: str) -> bool:
    return bool(call.leg(leg)) or any(each.leg.id == leg for each in call.ended_legs)


def _is_at_limit(call: Call) -> bool:
    return call.replacements >= MAX_REPLACEMENTS


def _arrive(call: Call, leg: str, party: str, replaced: Leg, now: int) -> tuple[Call, Leg]:
    arrived = Leg(
        leg,
        party,
        "created",
        now,
        ring_timeout_s=ANSWER_S,
        replaces=replaced.id,
        replaced_role=replaced.role,
    )
    return replace(call, replacements=call.replacements + 1), arrived


def _request(call: Call, source: str, party: str) -> TransferRequested:
    others = [leg.id for leg in call.legs if leg.id != source and is_expected(call, leg.id)]
    return TransferRequested(
        mode="blind",
        source=source,
        customer=others[0] if others else "",
        party=party,
        ring_s=ANSWER_S,
        source_agent=agent_of(call, source),
    )


def _can_leave(call: Call, request: TransferRequested) -> bool:
    """Return whether its source can leave; the target is a party of another call."""
    return check_request(call, replace(request, party="")) is None


def _shown_party(call: Call, leg_id: str) -> str:
    """Return a party as the other call may know it: a withheld number stays in its call."""
    leg = call.leg(leg_id)
    if leg is None or (call.privacy and leg.role == "caller"):
        return ""
    return leg.party
