"""RPC operations that start, show, complete and cancel transfers."""

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.call import Call, full_party
from engine.calls.model.requests import (
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.sessions import Transfer
from engine.rpc.agent_checks import reject_agent
from engine.rpc.handlers.dial_policy import authorize_dial
from engine.rpc.lookup import call_of, live_call_of, transfer_of
from engine.rpc.problems import Conflict
from engine.rpc.request_mapping import transfer_request
from engine.rpc.views.sessions import transfer_view
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.call_service import CallService
from engine.runtime.policy.dial_policy import DialPolicy
from wire.control import CancelTransfer, CompleteTransfer, InitTransfer, TransferView
from wire.decoding.errors import BadInput
from wire.party import Party
from wire.tree import Limits


class TransferHandlers(Struct, frozen=True):
    service: CallService
    limits: Limits
    dial_policy: DialPolicy
    agents: AgentPresence

    async def start(self, request: web.Request, body: InitTransfer) -> TransferView:
        """Start a transfer; return the active session if this request started it."""
        event = transfer_request(body, self.limits)
        call = await authorize_dial(
            self.dial_policy, self.service, request, body.account, event.party, "target.number"
        )
        event = replace(event, party=full_party(call, event.party))
        if call.transfer and _is_same(call.transfer, event):
            return transfer_view(call, call.transfer)
        await _check_agent(self.agents, call.account, event.party)
        call = await self.service.request(call.id, event)
        return transfer_view(call, call.transfers[-1])

    async def get(self, request: web.Request) -> TransferView:
        """Show an active or ended transfer of a live or ended call."""
        call = await call_of(self.service, request, request.query.get("account"))
        return _view(call, request.match_info["session"])

    async def complete(self, request: web.Request, body: CompleteTransfer) -> TransferView:
        """Release the source leg; an ended transfer stays unchanged."""
        call = await live_call_of(self.service, request, body.account)
        session = request.match_info["session"]
        event = TransferCompletionRequested(session, body.completed_by_agent_id, body.reason)
        return _view(await self.service.request(call.id, event), session)

    async def cancel(self, request: web.Request, body: CancelTransfer) -> TransferView:
        """Reconnect customer and source; an ended transfer stays unchanged."""
        call = await live_call_of(self.service, request, body.account)
        session = request.match_info["session"]
        event = TransferCancelRequested(session, body.cancelled_by_agent_id, body.reason)
        return _view(await self.service.request(call.id, event), session)


async def _check_agent(agents: AgentPresence, account: str, party: str) -> None:
    """Raise BadInput for an unknown agent, Conflict for one whose phone is not registered."""
    agent_id = Party.parse(party).id
    match await reject_agent(agents, account, party):
        case "":
            pass
        case "unknown_agent":
            raise BadInput("target.agentId", f"no agent {agent_id}", "unknown_agent")
        case "agent_offline":
            raise Conflict(f"the phone of agent {agent_id} is not registered", "agent_offline")


def _view(call: Call, session: str) -> TransferView:
    return transfer_view(call, transfer_of(call, session))


def _is_same(active: Transfer, request: TransferRequested) -> bool:
    return (active.source, active.customer, active.party) == (
        request.source,
        request.customer,
        request.party,
    )
