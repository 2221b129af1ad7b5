"""RPC operations that start, list and show calls."""

from itertools import chain

from aiohttp import web
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.calls.model.ids import slot_and_node
from engine.rpc.handlers.callbacks import check_callback_target
from engine.rpc.handlers.dial_policy import check_dial_policy
from engine.rpc.handlers.flows import check_flow
from engine.rpc.lookup import call_of, live_calls
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import Conflict
from engine.rpc.views.calls import call_view, timeline_view
from engine.runtime.call_service import CallService
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from wire import rpc
from wire.custom_data import check_custom_data
from wire.errors import BadInput
from wire.tree import Limits, check_action, check_party
from wire.views import Calls, CallView, Timeline


class CallHandlers(Struct, frozen=True):
    service: CallService
    store: Store
    limits: Limits
    fan_out: FanOut
    targets: AccountSettings
    dial_policy: DialPolicy

    async def originate(self, _request: web.Request, body: rpc.Originate) -> rpc.Started:
        """Start a call, or return the call that this requestId already started."""
        if body.action is not None:
            check_action(body.action, self.limits, "action")
        check_party(body.from_, self.limits, "from")
        check_party(body.to, self.limits, "to")
        _check_machine_action(body, self.limits)
        check_custom_data(body.custom_data, "customData")
        check_custom_data(body.contact, "contact")
        await check_callback_target(
            self.targets, self.store, body.account, body.status_callback_url
        )
        await check_flow(self.store, body.account, body.flow_id)
        await self._check_dial_policy(body)
        call = await self.service.originate(body)
        if call.account != body.account:
            raise Conflict("the requestId is in use")
        return rpc.Started(call.id)

    async def _check_dial_policy(self, body: rpc.Originate) -> None:
        if body.from_first:
            await check_dial_policy(self.dial_policy, body.account, body.from_, "from")
        await check_dial_policy(self.dial_policy, body.account, body.to, "to")

    async def list(self, request: web.Request) -> Calls:
        """List the live calls of all engines, or of one account."""
        remote = [calls.calls for calls in await self.fan_out.collect(request, Calls)]
        local = map(call_view, live_calls(self.service, request.query.get("account")))
        # A call that moves between engines may be reported by both.
        views = {view.call_id: view for view in chain(*remote, local)}
        return Calls(tuple(views.values()))

    async def get(self, request: web.Request) -> CallView:
        return call_view(await call_of(self.service, request, request.query.get("account")))

    async def timeline(self, request: web.Request) -> Timeline:
        call = await call_of(self.service, request, request.query.get("account"))
        slot, _node = slot_and_node(call.id) or (0, "")
        return timeline_view(call, await self.store.log(slot, call.id))


def _check_machine_action(body: rpc.Originate, limits: Limits) -> None:
    if isinstance(body.machine_detection, bool):
        return
    path = "machineDetection.onMachine"
    match body.machine_detection.on_machine:
        case "continue" | "hangup":
            pass
        case _ if body.from_first:
            raise BadInput(path, "continue or hangup, with fromFirst")
        case action:
            check_action(action, limits, path)
