"""Resolves permission, caller id and endpoint before an outbound leg is created."""

from collections.abc import Callable

import structlog
from msgspec import Struct
from msgspec.structs import replace

from engine.ari.request import Request
from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.commands import Originate
from engine.calls.model.events import LegEnded
from engine.runtime.base.interfaces import AgentPhone, DialDecision, DialRejection
from engine.runtime.pbx.ari_requests import requests_for
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from wire.party import Party

log = structlog.get_logger()
NO_TRUNK = causes.reason(causes.NO_CIRCUIT)
_TEMPORARY = ("terms_unknown", "live_legs", "leg_rate", "daily_minutes", "trunk_full", "trunk_rate")


class OutboundLeg(Struct, frozen=True):
    """The requests that create a leg, and the name of its agent, if one is known."""

    requests: tuple[Request, ...]
    agent_name: str = ""


OnResolved = Callable[[OutboundLeg | LegEnded], None]
# Passes on why an account's agent cannot be called; empty if no reason is known.
CheckAgent = Callable[[str, str, Callable[[str], None]], None]


def set_up_outbound_leg(
    endpoints: EndpointTemplates,
    call: Call,
    command: Originate,
    done: OnResolved,
    *,
    is_repeated: bool = False,
) -> None:
    """Resolve a party and call `done`, at once if nothing has to be read.

    A leg that the last owner of the call may have dialled already is repeated: limits of accounts
    do not apply to it once more, nor to one that is dialled over another trunk.
    """

    def decided(decision: DialDecision) -> None:
        rejection = decision.rejection
        is_counted = is_repeated or command.trunk > 0
        if not (rejection or is_counted or endpoints.policy is None):
            rejection = endpoints.policy.admit(call, command.leg, command.party)
        if rejection:
            log.info("dial rejected", call_id=call.id, party=command.party, reason=rejection)
            done(_rejected(command, rejection))
            return
        chosen = endpoints.over_trunk(command.trunk, decision.trunks)
        if chosen is None:
            done(LegEnded(command.leg, causes.NO_CIRCUIT, reason=NO_TRUNK))
        else:
            _locate(chosen, call, _decided(command, decision), done)

    if command.replaces is not None:
        done(OutboundLeg(requests_for(command, endpoints)))  # no party is called
    elif endpoints.policy is None:
        decided(DialDecision("", command.caller_id))
    else:
        endpoints.policy.authorize(call, command.party, command.caller_id, decided)


def _decided(command: Originate, decision: DialDecision) -> Originate:
    """Return the command as a policy decided; the account's own caller id is not withheld."""
    caller_id = decision.caller_id
    withheld = command.withheld and caller_id == command.caller_id
    party = decision.party or command.party
    return replace(command, party=party, caller_id=caller_id, withheld=withheld)


def any_agent(_account: str, _agent_id: str, done: Callable[[str], None]) -> None:
    """Reject no agent: a `CheckAgent` without registrations."""
    done("")


def check_target(
    endpoints: EndpointTemplates,
    call: Call,
    party: str,
    check_agent: CheckAgent,
    done: Callable[[str], None],
) -> None:
    """Pass to `done` why a party cannot be called, as far as the engine knows."""
    agent_id = Party.parse(party).agent_id

    def decided(decision: DialDecision) -> None:
        if decision.rejection or agent_id is None:
            done(decision.rejection)
        else:
            check_agent(call.account, agent_id, done)

    if endpoints.policy is None:
        decided(DialDecision(""))
    else:
        endpoints.policy.authorize(call, party, "", decided)


def _rejected(command: Originate, rejection: DialRejection) -> LegEnded:
    cause = causes.TEMPORARY_FAILURE if rejection in _TEMPORARY else causes.REJECTED
    return LegEnded(command.leg, cause, reason=rejection)


def _locate(endpoints: EndpointTemplates, call: Call, command: Originate, done: OnResolved) -> None:
    agent_id = Party.parse(command.party).agent_id
    if endpoints.agents is None or agent_id is None:
        done(OutboundLeg(requests_for(command, endpoints)))
        return

    def found(phone: AgentPhone | None) -> None:
        if phone is None:
            done(LegEnded(command.leg, causes.TEMPORARY_FAILURE))
        else:
            gets_leg = phone.kind == "browser"
            is_own = command.caller_id in {call.from_, call.caller_id}
            name = call.caller_name if is_own else ""
            chosen = replace(
                endpoints, agent=phone.endpoint, agent_gets_leg=gets_leg, caller_name=name
            )
            requests = requests_for(command, chosen)
            done(OutboundLeg(requests, phone.name))

    endpoints.agents.resolve(call.account, agent_id, found)
