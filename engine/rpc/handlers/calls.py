"""Calls over RPC: start, list, read, and their story."""

from collections.abc import Sequence
from itertools import chain

from aiohttp import web

from engine.callbacks.targets import CallbackTargets
from engine.calls.model.ids import slot_and_node
from engine.rpc.handlers.callbacks import check_callback_target
from engine.rpc.handlers.dial_policy import check_dial_policy
from engine.rpc.handlers.flows import check_flow
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import call_of, live_calls
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import Conflict
from engine.rpc.views.calls import call_view, timeline_view
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from engine.store.store import Store
from wire import rpc
from wire.custom_data import check_custom_data
from wire.errors import BadInput
from wire.tree import Limits, check_action, check_party
from wire.views import Calls


class CallHandlers:
    """One method a request."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        switch: CallService,
        store: Store,
        limits: Limits,
        everyone: FanOut,
        accounts: CallbackTargets,
        terms: DialPolicy,
    ) -> None:
        self._terms = terms
        self._accounts = accounts
        self._everyone = everyone
        self._switch = switch
        self._store = store
        self._limits = limits

    def routes(self) -> Sequence[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.post("/calls", self.originate),
            web.get("/calls", self.list),
            web.get("/calls/{call}", self.get),
            web.get("/calls/{call}/timeline", self.timeline),
        ]

    async def originate(self, request: web.Request) -> web.Response:
        """Start a call; a requestId that has its call already is answered with that call."""
        asked = await read_body(request, rpc.Originate)
        if asked.action is not None:
            check_action(asked.action, self._limits, "action")
        check_party(asked.from_, self._limits, "from")
        check_party(asked.to, self._limits, "to")
        _check_on_machine(asked, self._limits)
        check_custom_data(asked.custom_data, "customData")
        check_custom_data(asked.contact, "contact")
        await check_callback_target(
            self._accounts, self._store, asked.account, asked.status_callback_url
        )
        await check_flow(self._store, asked.account, asked.flow_id)
        await self._check_terms(asked)
        call = await self._switch.originate(asked)
        if call.account != asked.account:
            raise Conflict("the requestId is in use")
        return json_response(rpc.Started(call.id), 201)

    async def _check_terms(self, asked: rpc.Originate) -> None:
        if asked.from_first:
            await check_dial_policy(self._terms, asked.account, asked.from_, "from")
        await check_dial_policy(self._terms, asked.account, asked.to, "to")

    async def list(self, request: web.Request) -> web.Response:
        """List the live calls of all engines, of one account if named."""
        lists = [one.calls for one in await self._everyone.collect(request, Calls)]
        ours = map(call_view, live_calls(self._switch, request.query.get("account")))
        # One that moved from engine to engine just now may be told twice.
        views = {view.call_id: view for view in chain(*lists, ours)}
        return json_response(Calls(tuple(views.values())))

    async def get(self, request: web.Request) -> web.Response:
        """Show a call, live or ended."""
        call = await call_of(self._switch, request, request.query.get("account"))
        return json_response(call_view(call))

    async def timeline(self, request: web.Request) -> web.Response:
        """Tell a call's story."""
        call = await call_of(self._switch, request, request.query.get("account"))
        slot, _node = slot_and_node(call.id) or (0, "")
        return json_response(timeline_view(call, await self._store.log(slot, call.id)))


def _check_on_machine(asked: rpc.Originate, limits: Limits) -> None:
    if isinstance(asked.machine_detection, bool):
        return
    path = "machineDetection.onMachine"
    match asked.machine_detection.on_machine:
        case "continue" | "hangup":
            pass
        case _ if asked.from_first:
            raise BadInput(path, "continue or hangup, with fromFirst")
        case action:
            check_action(action, limits, path)
