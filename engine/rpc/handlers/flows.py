"""RPC operations on flows: each change is validated and stored as a new version."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.flows.check import MAX_FLOW_BYTES, check_graph, check_tree, read_document, requested_ids
from engine.flows.document import is_graph, why_not_runnable
from engine.flows.recursion import check_no_recursion
from engine.rpc.lookup import name_in
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire import rpc
from wire.decoding.errors import BadInput, raise_errors
from wire.decoding.json_document import read_json
from wire.request import ApiRequest
from wire.tree import Limits


class FlowHandlers(Struct, frozen=True):
    store: Store
    limits: Limits

    async def put(self, request: web.Request) -> rpc.FlowVersion:
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        body = await self._validated_body(request, account, flow_id)
        return rpc.FlowVersion(flow_id, await self.store.put_flow(account, flow_id, body))

    async def check(self, request: web.Request) -> None:
        """Validate a flow without storing it."""
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        await self._validated_body(request, account, flow_id)

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

    async def _validated_body(self, request: web.Request, account: str, flow_id: str) -> bytes:
        """Return the body of a valid flow: a graph, or a tree with or without templates."""
        body = await request.read()
        document = read_document(body, MAX_FLOW_BYTES)
        if is_graph(document):
            check_graph(document, self.limits, await self._api_requests(account, document))
        elif len(body) > self.limits.size_bytes:
            raise BadInput("", f"larger than {self.limits.size_bytes} bytes", "too_large")
        else:
            check_tree(document, self.limits)
        await check_no_recursion(flow_id, document, partial(self._document, account))
        return body

    async def _document(self, account: str, flow_id: str) -> Any:
        found = await self.store.flow(account, flow_id)
        return None if found is None else read_json(found[1])

    async def _api_requests(self, account: str, document: Any) -> dict[str, ApiRequest]:
        found = await self.store.requests(account) if requested_ids(document) else {}
        wanted = requested_ids(document) & found.keys()
        return {each: msgspec.json.decode(found[each], type=ApiRequest) for each in wanted}


async def check_flow_ids(store: Store, account: str, ids: Iterable[tuple[str, str]]) -> None:
    """Check that flows exist and are call flows; raises BadInput, StoreDown.

    `ids` are pairs of a path in the request and a flow's id.
    """
    by_id: dict[str, str | None] = {}
    errors = list[BadInput]()
    for path, flow_id in ids:
        if flow_id not in by_id:
            found = await store.flow(account, flow_id)
            by_id[flow_id] = why_not_runnable(flow_id, found[1] if found else None)
        if reason := by_id[flow_id]:
            errors.append(BadInput(path, reason, "unknown_flow"))
    raise_errors(errors)


def _version(request: web.Request) -> int:
    given = request.query.get("version", "0")
    if not (given.isascii() and given.isdecimal() and len(given) < 10):  # noqa: PLR2004 - digits
        raise BadInput("version", "expected a number")
    return int(given)
