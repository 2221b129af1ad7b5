"""RPC operations on number routes: the action that inbound calls to a number run."""

import re

import msgspec
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from engine.rpc.flow_checks import FlowChecks
from engine.rpc.handlers.flows import check_flow_ids
from engine.rpc.problems import NotFound
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from wire import rpc
from wire.callbacks.targets import parse_call_target
from wire.custom_data import check_custom_data
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import normalized
from wire.tree import Limits, check_action, flow_ids
from wire.verbs import Action

_DECIMAL = re.compile(r"[0-9]+[.,][0-9]+")


class NumberRouteHandlers(Struct, frozen=True):
    store: Store
    limits: Limits
    checks: FlowChecks
    dial_policy: DialPolicy

    async def put(self, request: web.Request, route: rpc.NumberRoute) -> rpc.NumberRoute:
        """Set the action of inbound calls to a number; `*` is the default route."""
        await self._check(route, self.limits)  # recognizers: as for flows
        number = normalized(request.match_info["number"])
        if _DECIMAL.fullmatch(number):  # 2193.0000 may be 2193 or 21930000
            raise BadInput("number", "expected a number such as +4721930000, or a name")
        await self.store.put_route(number, msgspec.json.encode(route))
        return route

    async def check(self, _request: web.Request, route: rpc.NumberRoute) -> None:
        """Validate a route without storing it."""
        recognizers = await self.dial_policy.recognizers(route.account)
        await self._check(route, replace(self.limits, recognizers=recognizers))

    async def delete(self, request: web.Request) -> None:
        number = normalized(request.match_info["number"])
        if await self.store.route(number) is None:
            raise NotFound(f"no route for {number}")
        await self.store.put_route(number, None)

    async def list(self, _request: web.Request) -> dict[str, msgspec.Raw]:
        found = await self.store.routes()
        return {number: msgspec.Raw(body) for number, body in found.items()}

    async def _check(self, route: rpc.NumberRoute, limits: Limits) -> None:
        check_action(route.action, limits, "action")
        await self._check_flows(route.account, route.action, "action")
        if route.fallback is not None:
            check_action(route.fallback, limits, "fallback")
            await self._check_flows(route.account, route.fallback, "fallback")
        check_custom_data(route.custom_data, "customData")
        if route.status_callback_url is not None:
            parse_call_target(route.status_callback_url, "statusCallbackUrl")

    async def _check_flows(self, account: str, action: Action, path: str) -> None:
        """Check the flows of an action: it may name hundreds, each of the largest size."""
        if ids := tuple(flow_ids(action, path)):
            async with self.checks.turn(account):
                await check_flow_ids(self.store, account, ids, self.checks)
