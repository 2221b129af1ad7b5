"""The legs that a call has dialled, and how long they lasted: what it costs."""

from collections.abc import Iterable

from engine.calls.model.call import Call
from engine.calls.model.leg import EndedLeg, Leg
from wire.call_id_format import call_of
from wire.party import AGENT_PREFIX


def was_dialled(leg: Leg) -> bool:
    """Return whether the engine called the leg's party: a number, an address or an agent."""
    return not leg.replaces and call_of(leg.id) is not None


def was_dialled_over_trunk(leg: Leg) -> bool:
    """Return whether the engine called the leg's party over the trunk."""
    return was_dialled(leg) and is_on_trunk(leg)


def is_on_trunk(leg: Leg) -> bool:
    """Return whether a leg occupies the trunk, unless an agent called in with it."""
    return not (leg.replaces or leg.party.startswith(AGENT_PREFIX))


def ended_legs_ms(call: Call) -> int:
    """Return how long the dialled legs of a call that have ended were up, in all."""
    return call.ended_legs_omitted_ms + dialled_ms(call.ended_legs)


def dialled_ms(ended: Iterable[EndedLeg]) -> int:
    """Return how long those of the ended legs that were dialled were up."""
    dialled = (each for each in ended if each.leg.answered_ms and was_dialled(each.leg))
    return sum(max(0, each.ended_ms - each.leg.answered_ms) for each in dialled)
