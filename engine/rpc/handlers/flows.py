"""Flows over RPC: stored as versions, checked as graphs before that."""

from typing import Any

import msgspec
from aiohttp import web

from engine.calls.flows.templates import fill
from engine.flows.check import MAX_FLOW_BYTES, check_graph, read_document, requested_ids
from engine.flows.document import is_graph, read_outline
from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import json_response
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire import rpc
from wire.errors import BadInput
from wire.request import ApiRequest
from wire.tree import Limits, parse_action

_ONE = "/flows/{account}/{flow}"


class FlowHandlers:
    """One method a request."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """List what is answered."""
        return [
            web.get("/flows/{account}", self.list),
            web.put(_ONE, self.put),
            web.get(_ONE, self.get),
            web.delete(_ONE, self.delete),
            web.post(f"{_ONE}/check", self.check),
            web.get(f"{_ONE}/versions", self.versions),
        ]

    async def put(self, request: web.Request) -> web.Response:
        """Store a flow's next version."""
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        body = await self._checked(request, account)
        version = await self._store.put_flow(account, flow_id, body)
        return json_response(rpc.FlowVersion(flow_id, version))

    async def check(self, request: web.Request) -> web.Response:
        """Say what is wrong with a flow, and store nothing."""
        name_in(request, "flow")
        await self._checked(request, name_in(request, "account"))
        return json_response({})

    async def get(self, request: web.Request) -> web.Response:
        """Show a flow, the newest version or the one that `version` names."""
        account, flow_id = request.match_info["account"], request.match_info["flow"]
        found = await self._store.flow(account, flow_id, _version_in(request))
        if found is None:
            raise NotFound(f"no flow {flow_id}")
        version, body = found
        headers = {"Flow-Version": str(version)}
        return web.Response(body=body, content_type="application/json", headers=headers)

    async def list(self, request: web.Request) -> web.Response:
        """List an account's flows."""
        found = await self._store.flows(request.match_info["account"])
        return json_response(
            rpc.Flows(tuple(rpc.FlowVersion(*each) for each in sorted(found.items())))
        )

    async def versions(self, request: web.Request) -> web.Response:
        """List the versions of a flow that are kept."""
        account, flow_id = request.match_info["account"], request.match_info["flow"]
        found = await self._store.flow_versions(account, flow_id)
        if not found:
            raise NotFound(f"no flow {flow_id}")
        return json_response(rpc.FlowVersions(flow_id, tuple(found)))

    async def delete(self, request: web.Request) -> web.Response:
        """Take a flow away; calls that run it go on."""
        account, flow_id = request.match_info["account"], request.match_info["flow"]
        if not await self._store.delete_flow(account, flow_id):
            raise NotFound(f"no flow {flow_id}")
        return json_response({})

    async def _checked(self, request: web.Request, account: str) -> bytes:
        """Give the body of a flow that can run: a graph, or a tree whose strings may be filled."""
        body = await request.read()
        document = read_document(body, MAX_FLOW_BYTES)
        if is_graph(document):
            check_graph(document, self._limits, await self._apis(account, document))
        elif len(body) > self._limits.size_bytes:
            raise BadInput("", f"larger than {self._limits.size_bytes} bytes", "too_large")
        elif b"{{" not in body:
            parse_action(body, self._limits)
        else:
            fill(body, lambda _name: None)
        return body

    async def _apis(self, account: str, document: Any) -> dict[str, ApiRequest]:
        found = await self._store.requests(account) if requested_ids(document) else {}
        wanted = requested_ids(document) & found.keys()
        return {each: msgspec.json.decode(found[each], type=ApiRequest) for each in wanted}


async def check_flow(store: Store, account: str, flow_id: str | None) -> None:
    """Check that what a call is to run is there, and for calls; raises BadInput, StoreDown."""
    if flow_id is None:
        return
    found = await store.flow(account, flow_id)
    if found is None:
        raise BadInput("flowId", f"no flow {flow_id}", "unknown_flow")
    outline = read_outline(found[1])
    if outline is not None and outline.kind == "message":
        raise BadInput("flowId", f"flow {flow_id} is of kind message: no call can run it")


def _version_in(request: web.Request) -> int:
    given = request.query.get("version", "0")
    if not (given.isascii() and given.isdecimal() and len(given) < 10):  # noqa: PLR2004 - digits
        raise BadInput("version", "expected a number")
    return int(given)
