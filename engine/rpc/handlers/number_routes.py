"""Number routes over RPC: what calls that come in run."""

import re

import msgspec
from aiohttp import web

from engine.rpc.json_body import json_response, read_body
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire import rpc
from wire.callback_targets import parse_call_target
from wire.custom_data import check_custom_data
from wire.errors import BadInput
from wire.patterns import NAME, PATTERNS
from wire.tree import Limits, check_action


class NumberRouteHandlers:
    """One method a request."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.get("/routes", self.list_routes),
            web.put("/routes/{number}", self.put_route),
            web.delete("/routes/{number}", self.delete_route),
        ]

    async def put_route(self, request: web.Request) -> web.Response:
        """Say what calls to a number run; the number `*` stands for all others."""
        route = await read_body(request, rpc.NumberRoute)
        check_action(route.action, self._limits, "action")
        check_custom_data(route.custom_data, "customData")
        if route.status_callback_url is not None:
            parse_call_target(route.status_callback_url, "statusCallbackUrl")
        await self._store.put_route(request.match_info["number"], msgspec.json.encode(route))
        return json_response(route)

    async def delete_route(self, request: web.Request) -> web.Response:
        """Take a number's route away."""
        number = request.match_info["number"]
        if await self._store.route(number) is None:
            raise NotFound(f"no route of {number}")
        await self._store.put_route(number, None)
        return json_response({})

    async def list_routes(self, _request: web.Request) -> web.Response:
        """List the numbers' routes."""
        found = await self._store.routes()
        return json_response({number: msgspec.Raw(body) for number, body in found.items()})


def name_in(request: web.Request, part: str) -> str:
    """Give a name that stands in the path; raises BadInput."""
    name = request.match_info[part]
    if re.search(NAME, name) is None:
        raise BadInput(part, f"expected {PATTERNS[NAME]}")
    return name
