"""Transfers over RPC: begun, completed, canceled, looked at."""

from aiohttp import web

from engine.calls.model.call import Call
from engine.calls.model.requests import (
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.sessions import Transfer
from engine.rpc.handlers.dial_policy import authorize_dial
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import call_of, live_call_of, transfer_of
from engine.rpc.request_mapping import transfer_request
from engine.rpc.views.sessions import transfer_view
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from wire.control import CancelTransfer, CompleteTransfer, InitTransfer
from wire.tree import Limits


class TransferHandlers:
    """One method a request."""

    def __init__(self, switch: CallService, limits: Limits, terms: DialPolicy) -> None:
        self._terms = terms
        self._switch = switch
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        one = "/calls/{call}/transfers/{session}"
        return [
            web.post("/calls/{call}/transfers", self.start),
            web.get(one, self.get),
            web.post(f"{one}/complete", self.complete),
            web.post(f"{one}/cancel", self.cancel),
        ]

    async def start(self, request: web.Request) -> web.Response:
        """Begin a transfer; asked again while it goes on, it is answered with the same session."""
        asked = await read_body(request, InitTransfer)
        event = transfer_request(asked, self._limits)
        call = await authorize_dial(
            self._terms, self._switch, request, asked.account, event.party, "target.number"
        )
        if call.transfer and _is(call.transfer, event):
            return json_response(transfer_view(call, call.transfer))
        call = await self._switch.request(call.id, event)
        return json_response(transfer_view(call, call.transfers[-1]))

    async def get(self, request: web.Request) -> web.Response:
        """Show a transfer, live or ended, of a call that may have ended too."""
        call = await call_of(self._switch, request, request.query.get("account"))
        return _shown(call, request.match_info["session"])

    async def complete(self, request: web.Request) -> web.Response:
        """Leave the source out; one that has ended stays as it is."""
        asked = await read_body(request, CompleteTransfer)
        call = await live_call_of(self._switch, request, asked.account)
        session = request.match_info["session"]
        event = TransferCompletionRequested(session, asked.completed_by_agent_id, asked.reason)
        return _shown(await self._switch.request(call.id, event), session)

    async def cancel(self, request: web.Request) -> web.Response:
        """Bring the customer back; one that has ended stays as it is."""
        asked = await read_body(request, CancelTransfer)
        call = await live_call_of(self._switch, request, asked.account)
        session = request.match_info["session"]
        event = TransferCancelRequested(session, asked.cancelled_by_agent_id, asked.reason)
        return _shown(await self._switch.request(call.id, event), session)


def _shown(call: Call, session: str) -> web.Response:
    return json_response(transfer_view(call, transfer_of(call, session)))


def _is(live: Transfer, asked: TransferRequested) -> bool:
    return (live.source, live.customer, live.party) == (asked.source, asked.customer, asked.party)
