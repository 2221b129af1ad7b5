"""Calls a number over the next trunk if one has no circuit for it."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, is_expected, originate, with_leg
from engine.calls.model.events import LegEnded
from engine.calls.model.leg import Leg
from engine.calls.reporting.dialled_legs import was_dialled_over_trunk
from wire.party import Party

# Q.850: no circuit, congestion. Asterisk has the latter for 503, too.
_CAUSES = (causes.NO_CIRCUIT, causes.CONGESTION)
_UNAVAILABLE = 503


def fail_over(call: Call, leg: Leg, ended: LegEnded) -> Step | None:
    """Return the step that calls the leg's number over the next trunk; None: the leg has ended.

    The leg stays the same one, so it counts once, and its party has no event of the failure.
    """
    if _is_of_last_trunk(leg, ended):
        return call, ()
    if not (_may_fail_over(call, leg) and _has_no_circuit(ended)):
        return None
    leg = replace(leg, state="requested", trunk=leg.trunk + 1)
    command = originate(call, leg.id, leg.party, leg.caller_id)
    return with_leg(call, leg), (replace(command, trunk=leg.trunk),)


def _is_of_last_trunk(leg: Leg, ended: LegEnded) -> bool:
    """Return whether it is about the channel at the last trunk, whose end was reported before.

    A channel that is not created has a reason, and one that ended unnoticed is lost.
    """
    is_seen = not (ended.reason or ended.cause == causes.LOST)
    return leg.trunk > 0 and leg.state == "requested" and is_seen


def _may_fail_over(call: Call, leg: Leg) -> bool:
    is_new = leg.state in {"requested", "created"}  # a party that rings has been reached
    is_number = Party.parse(leg.party).kind == "number" and was_dialled_over_trunk(leg)
    return is_new and is_number and leg.trunk + 1 < call.trunks and is_expected(call, leg.id)


def _has_no_circuit(ended: LegEnded) -> bool:
    return not ended.reason and (ended.cause in _CAUSES or ended.sip_code == _UNAVAILABLE)
