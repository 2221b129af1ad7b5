"""Whether flows, API requests and number routes are valid: asked before they are stored."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Any

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from base.limit import Limit
from engine.flows.check import MAX_FLOW_BYTES, check_graph, check_tree, read_document, requested_ids
from engine.flows.document import is_graph, why_not_runnable
from engine.flows.recursion import StoredFlow, called_flows, check_no_recursion
from engine.flows.requests import check_request
from engine.rpc.flow_checks import FlowChecks
from engine.rpc.lookup import name_in
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from wire import rpc
from wire.callbacks.targets import parse_call_target
from wire.custom_data import check_custom_data
from wire.decoding.errors import BadInput, raise_errors
from wire.decoding.json_errors import read_json
from wire.decoding.messages import decode_message
from wire.decoding.patterns import HEX_ID, PATTERNS
from wire.request import ApiRequest
from wire.tree import Limits, check_action, flow_ids
from wire.verbs import Action

REQUESTS_AT_ONCE = 16
MAX_REQUESTS_BYTES: Annotated[
    int, Limit("request", "400 `too_large`", "Bytes of the API requests that a flow names.")
] = 4_194_304


class DocumentChecks(Struct, frozen=True):
    """Each method raises BadInput, or InputErrors, and stores nothing."""

    store: Store
    limits: Limits
    checks: FlowChecks
    dial_policy: DialPolicy

    async def flow(self, request: web.Request) -> None:
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        await self.check_flow(account, flow_id, await request.read())

    async def api_request(self, request: web.Request) -> None:
        """Validate an API request, with all its secrets."""
        account, request_id = name_in(request, "account"), request.match_info["request"]
        await self.check_request(account, request_id, await request.read())

    async def route(self, _request: web.Request, route: rpc.NumberRoute) -> None:
        await self.check_route(route)

    async def check_flow(self, account: str, flow_id: str, body: bytes) -> None:
        """Check a flow: a graph, or a tree with or without templates."""
        limits = await self._limits_of(account)
        async with self.checks.turn(account):
            document = await self.checks.run(read_document, body, MAX_FLOW_BYTES)
            if is_graph(document):
                apis = await self._api_requests(account, document)
                await self.checks.run(check_graph, document, limits, apis)
            elif len(body) > limits.size_bytes:
                raise BadInput("", f"larger than {limits.size_bytes} bytes", "too_large")
            else:
                await self.checks.run(check_tree, document, limits)
            called = await self.checks.run(lambda: tuple(called_flows(document)))
            await check_no_recursion(flow_id, called, partial(self._stored_flow, account))

    async def check_request(self, account: str, request_id: str, body: bytes) -> None:
        if re.search(HEX_ID, request_id) is None:
            raise BadInput("request", f"expected {PATTERNS[HEX_ID]}")
        async with self.checks.turn(account):
            await self.checks.run(_check_request, body, self.limits)

    async def check_route(self, route: rpc.NumberRoute) -> None:
        limits = await self._limits_of(route.account)
        check_action(route.action, limits, "action")
        await self._check_flows(route.account, route.action, "action")
        if route.fallback is not None:
            check_action(route.fallback, limits, "fallback")
            await self._check_flows(route.account, route.fallback, "fallback")
        check_custom_data(route.custom_data, "customData")
        if route.status_callback_url is not None:
            parse_call_target(route.status_callback_url, "statusCallbackUrl")

    async def _limits_of(self, account: str) -> Limits:
        return replace(self.limits, recognizers=await self.dial_policy.recognizers(account))

    async def _check_flows(self, account: str, action: Action, path: str) -> None:
        """Check the flows of an action: it may name hundreds, each of the largest size."""
        if ids := tuple(flow_ids(action, path)):
            async with self.checks.turn(account):
                await check_flow_ids(self.store, account, ids, self.checks)

    async def _stored_flow(self, account: str, flow_id: str) -> StoredFlow:
        found = await self.store.flow(account, flow_id)
        return StoredFlow() if found is None else await self.checks.run(_read_flow, found[1])

    async def _api_requests(self, account: str, document: Any) -> dict[str, ApiRequest]:
        """Return the API requests that a graph names; raises BadInput if they are too large."""
        wanted, found, total = sorted(requested_ids(document)), dict[str, ApiRequest](), 0
        for start in range(0, len(wanted), REQUESTS_AT_ONCE):
            ids = wanted[start : start + REQUESTS_AT_ONCE]
            bodies = await self.store.requests(account, ids)
            total += sum(map(len, bodies.values()))
            if total > MAX_REQUESTS_BYTES:
                text = f"the API requests that it names have more than {MAX_REQUESTS_BYTES} bytes"
                raise BadInput("nodes", text, "too_large")
            found |= await self.checks.run(_read_requests, bodies)
        return found


async def check_flow_ids(
    store: Store,
    account: str,
    ids: Iterable[tuple[str, str]],
    checks: FlowChecks | None = None,
) -> None:
    """Check that flows exist and are call flows; raises BadInput, StoreDown.

    `ids` are pairs of a path in the request and a flow's id. `checks` read the flows in their
    thread; a call that starts does not wait for it.
    """
    by_id: dict[str, str | None] = {}
    errors = list[BadInput]()
    for path, flow_id in ids:
        if flow_id not in by_id:
            found = await store.flow(account, flow_id)
            body = found[1] if found else None
            by_id[flow_id] = (
                await checks.run(why_not_runnable, flow_id, body)
                if checks
                else why_not_runnable(flow_id, body)
            )
        if reason := by_id[flow_id]:
            errors.append(BadInput(path, reason, "unknown_flow"))
    raise_errors(errors)


def _check_request(body: bytes, limits: Limits) -> None:
    check_request(read_document(body, MAX_FLOW_BYTES), limits)


def _read_flow(body: bytes) -> StoredFlow:
    called = frozenset(flow_id for _, flow_id in called_flows(read_json(body)))
    return StoredFlow(called, len(body))


def _read_requests(bodies: Mapping[str, bytes]) -> dict[str, ApiRequest]:
    return {each: decode_message(body, ApiRequest) for each, body in bodies.items()}
