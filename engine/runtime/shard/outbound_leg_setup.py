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


class OutboundLeg(Struct, frozen=True):
    """The requests that create a leg, and the name of its agent, if one is known."""

    requests: tuple[Request, ...]
    agent_name: str = ""


OnResolved = Callable[[OutboundLeg | LegEnded], None]
# Passes on why an account's agent cannot be called; empty if no reason is known.
CheckAgent = Callable[[str, str, Callable[[str], None]], None]


def set_up_outbound_leg(
    endpoints: EndpointTemplates, call: Call, command: Originate, done: OnResolved
) -> None:
    """Resolve a party and call `done`, at once if nothing has to be read."""

    def decided(decision: DialDecision) -> None:
        if decision.rejection:
            log.info(
                "dial rejected", call_id=call.id, party=command.party, reason=decision.rejection
            )
            done(_rejected(command, decision.rejection))
        else:
            _locate(endpoints, call, _showing(command, decision.caller_id), done)

    if command.replaces is not None:
        done(OutboundLeg(requests_for(command, endpoints)))  # no party is called
    elif endpoints.policy is None:
        _locate(endpoints, call, command, done)
    else:
        endpoints.policy.authorize(call, command.party, command.caller_id, decided)


def _showing(command: Originate, caller_id: str) -> Originate:
    """Return the command with the caller id of a policy; the account's own is not withheld."""
    withheld = command.withheld and caller_id == command.caller_id
    return replace(command, caller_id=caller_id, withheld=withheld)


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
    is_permanent = rejection != "terms_unknown"
    cause = causes.REJECTED if is_permanent else causes.TEMPORARY_FAILURE
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
            requests = requests_for(command, replace(endpoints, agent=phone.endpoint))
            done(OutboundLeg(requests, phone.name))

    endpoints.agents.resolve(call.account, agent_id, found)
