"""RPC operations on number routes: the action that inbound calls to a number run."""

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.rpc.json_body import json_response, read_body
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire import rpc
from wire.callback_targets import parse_call_target
from wire.custom_data import check_custom_data
from wire.tree import Limits, check_action


class NumberRouteHandlers(Struct, frozen=True):
    store: Store
    limits: Limits

    async def put(self, request: web.Request) -> web.Response:
        """Set the action of inbound calls to a number; `*` is the default route."""
        route = await read_body(request, rpc.NumberRoute)
        check_action(route.action, self.limits, "action")
        check_custom_data(route.custom_data, "customData")
        if route.status_callback_url is not None:
            parse_call_target(route.status_callback_url, "statusCallbackUrl")
        await self.store.put_route(request.match_info["number"], msgspec.json.encode(route))
        return json_response(route)

    async def delete(self, request: web.Request) -> web.Response:
        number = request.match_info["number"]
        if await self.store.route(number) is None:
            raise NotFound(f"no route for {number}")
        await self.store.put_route(number, None)
        return json_response({})

    async def list(self, _request: web.Request) -> web.Response:
        found = await self.store.routes()
        return json_response({number: msgspec.Raw(body) for number, body in found.items()})
