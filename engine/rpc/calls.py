"""Calls over RPC: start, list, read, end, and their story."""

from aiohttp import web
from msgspec.structs import replace

from engine.calls.call import Call
from engine.calls.ids import slot_and_node
from engine.rpc.bodies import answer, read
from engine.rpc.problems import Conflict, NotFound
from engine.rpc.views import call_view, timeline
from engine.runtime.switch import Switch
from engine.store.store import Store
from wire import rpc
from wire.data import check_data
from wire.tree import Limits, check_action, check_party


class CallsHandlers:
    """One method a request."""

    def __init__(self, switch: Switch, store: Store, limits: Limits) -> None:
        self._switch = switch
        self._store = store
        self._limits = limits

    async def originate(self, request: web.Request) -> web.Response:
        """Start a call; a requestId that has its call already is answered with that call."""
        asked = await read(request, rpc.Originate)
        if asked.action is not None:
            check_action(asked.action, self._limits, "action")
        check_party(asked.from_, self._limits, "from")
        check_party(asked.to, self._limits, "to")
        check_data(asked.custom_data, "customData")
        check_data(asked.contact, "contact")
        call = await self._switch.originate(asked)
        if call.account != asked.account:
            raise Conflict("the requestId is in use")
        return answer(rpc.Started(call.id), 201)

    async def list(self, request: web.Request) -> web.Response:
        """List the live calls, of one account if named."""
        account = request.query.get("account")
        calls = (
            actor.call
            for node in self._switch.nodes.values()
            for desk in node.desks.values()
            for actor in desk.actors.values()
        )
        views = (call_view(call) for call in calls if account in {None, call.account})
        return answer(rpc.Calls(tuple(views)))

    async def get(self, request: web.Request) -> web.Response:
        """Show a call, live or ended."""
        return answer(call_view(await self._call(request, request.query.get("account"))))

    async def hangup(self, request: web.Request) -> web.Response:
        """End a call; once it has ended, 409."""
        asked = await read(request, rpc.HangupCall)
        call = await self._call(request, asked.account)
        if call.is_over or not self._switch.hang_up(call.id, "api"):
            raise Conflict(f"call {call.id} has ended")
        return answer(replace(call_view(call), doing="ending"))

    async def timeline(self, request: web.Request) -> web.Response:
        """Tell a call's story."""
        call = await self._call(request, request.query.get("account"))
        slot, _node = slot_and_node(call.id) or (0, "")
        return answer(timeline(call, await self._store.log(slot, call.id)))

    async def _call(self, request: web.Request, account: str | None) -> Call:
        call_id = request.match_info["call"]
        call = await self._switch.read(call_id)
        if call is None or account not in {None, call.account}:
            raise NotFound(f"no call {call_id}")
        return call
