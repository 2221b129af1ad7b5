"""RPC operations on flows: each change is validated and stored as a new version."""

from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.calls.flows.templates import fill
from engine.flows.check import MAX_FLOW_BYTES, check_graph, read_document, requested_ids
from engine.flows.document import is_graph, read_outline
from engine.rpc.lookup import name_in
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire import rpc
from wire.errors import BadInput
from wire.request import ApiRequest
from wire.tree import Limits, parse_action


class FlowHandlers(Struct, frozen=True):
    store: Store
    limits: Limits

    async def put(self, request: web.Request) -> rpc.FlowVersion:
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        body = await self._validated_body(request, account)
        return rpc.FlowVersion(flow_id, await self.store.put_flow(account, flow_id, body))

    async def check(self, request: web.Request) -> None:
        """Validate a flow without storing it."""
        name_in(request, "flow")
        await self._validated_body(request, name_in(request, "account"))

    async def get(self, request: web.Request) -> web.Response:
        """Show the newest version of a flow, or the one in the query."""
        account, flow_id = request.match_info["account"], request.match_info["flow"]
        found = await self.store.flow(account, flow_id, _version(request))
        if found is None:
            raise NotFound(f"no flow {flow_id}")
        version, body = found
        headers = {"Flow-Version": str(version)}
        return web.Response(body=body, content_type="application/json", headers=headers)

    async def list(self, request: web.Request) -> rpc.Flows:
        found = await self.store.flows(request.match_info["account"])
        return rpc.Flows(tuple(rpc.FlowVersion(*each) for each in sorted(found.items())))

    async def versions(self, request: web.Request) -> rpc.FlowVersions:
        account, flow_id = request.match_info["account"], request.match_info["flow"]
        found = await self.store.flow_versions(account, flow_id)
        if not found:
            raise NotFound(f"no flow {flow_id}")
        return rpc.FlowVersions(flow_id, tuple(found))

    async def delete(self, request: web.Request) -> None:
        """Delete a flow; calls that run it continue."""
        account, flow_id = request.match_info["account"], request.match_info["flow"]
        if not await self.store.delete_flow(account, flow_id):
            raise NotFound(f"no flow {flow_id}")

    async def _validated_body(self, request: web.Request, account: str) -> bytes:
        """Return the body of a valid flow: a graph, or a tree with or without templates."""
        body = await request.read()
        document = read_document(body, MAX_FLOW_BYTES)
        if is_graph(document):
            check_graph(document, self.limits, await self._api_requests(account, document))
        elif len(body) > self.limits.size_bytes:
            raise BadInput("", f"larger than {self.limits.size_bytes} bytes", "too_large")
        elif b"{{" not in body:
            parse_action(body, self.limits)
        else:
            fill(body, lambda _name: None)
        return body

    async def _api_requests(self, account: str, document: Any) -> dict[str, ApiRequest]:
        found = await self.store.requests(account) if requested_ids(document) else {}
        wanted = requested_ids(document) & found.keys()
        return {each: msgspec.json.decode(found[each], type=ApiRequest) for each in wanted}


async def check_flow(store: Store, account: str, flow_id: str | None) -> None:
    """Check that a flow exists and is a call flow; raises BadInput, StoreDown."""
    if flow_id is None:
        return
    found = await store.flow(account, flow_id)
    if found is None:
        raise BadInput("flowId", f"no flow {flow_id}", "unknown_flow")
    outline = read_outline(found[1])
    if outline is not None and outline.kind == "message":
        raise BadInput("flowId", f"flow {flow_id} is of kind message: no call can run it")


def _version(request: web.Request) -> int:
    given = request.query.get("version", "0")
    if not (given.isascii() and given.isdecimal() and len(given) < 10):  # noqa: PLR2004 - digits
        raise BadInput("version", "expected a number")
    return int(given)
