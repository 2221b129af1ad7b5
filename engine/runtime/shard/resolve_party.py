"""What must be known before a party is called: whether it may be, what it is shown, where it is."""

from collections.abc import Callable

import structlog
from msgspec.structs import replace

from engine.ari.request import Request
from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.commands import Originate
from engine.calls.model.events import LegEnded
from engine.runtime.base.ports import DialDecision, DialRefusal
from engine.runtime.pbx.ari_requests import requests_for
from engine.runtime.pbx.endpoints import EndpointTemplates

log = structlog.get_logger()
# The requests that call it, or the end of a leg that can't be made.
Prepared = Callable[[tuple[Request, ...] | LegEnded], None]


def resolve_party(plan: EndpointTemplates, call: Call, command: Originate, done: Prepared) -> None:
    """Find out what a call to a party takes; `done` is told, at once where nothing must be read."""

    def judged(verdict: DialDecision) -> None:
        if verdict.rejection:
            log.info("not called", call_id=call.id, party=command.party, reason=verdict.rejection)
            done(_refused(command, verdict.rejection))
        else:
            _locate(plan, call, replace(command, caller_id=verdict.caller_id), done)

    if plan.policy is None:
        _locate(plan, call, command, done)
    else:
        plan.policy.authorize(call, command.party, command.caller_id, judged)


def _refused(command: Originate, refusal: DialRefusal) -> LegEnded:
    is_known = refusal != "terms_unknown"
    cause = causes.REJECTED if is_known else causes.TEMPORARY_FAILURE
    return LegEnded(command.leg, cause, reason=refusal)


def _locate(plan: EndpointTemplates, call: Call, command: Originate, done: Prepared) -> None:
    party = command.party
    if plan.agents is None or not party.startswith("agent:"):
        done(requests_for(command, plan))
        return

    def found(endpoint: str | None) -> None:
        if endpoint is None:
            done(LegEnded(command.leg, causes.TEMPORARY_FAILURE))
        else:
            done(requests_for(command, replace(plan, agent=endpoint)))

    plan.agents.resolve(call.account, party.removeprefix("agent:"), found)
