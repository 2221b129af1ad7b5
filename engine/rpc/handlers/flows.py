"""RPC operations on flows: each change is validated and stored as a new version."""

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
from engine.rpc.flow_checks import FlowChecks
from engine.rpc.lookup import name_in
from engine.rpc.problems import NotFound
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from wire import rpc
from wire.decoding.errors import BadInput, raise_errors
from wire.decoding.json_errors import read_json
from wire.decoding.messages import decode_message
from wire.request import ApiRequest
from wire.tree import Limits

REQUESTS_AT_ONCE = 16
MAX_REQUESTS_BYTES: Annotated[
    int, Limit("request", "400 `too_large`", "Bytes of the API requests that a flow names.")
] = 4_194_304


class FlowHandlers(Struct, frozen=True):
    store: Store
    limits: Limits
    checks: FlowChecks
    dial_policy: DialPolicy

    async def put(self, request: web.Request) -> rpc.FlowVersion:
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        # Recognizers are not checked: after a loss of the store, flows may be stored again before
        # policies are. They are checked when a gather starts.
        body = await self._validated_body(request, account, flow_id, self.limits)
        return rpc.FlowVersion(flow_id, await self.store.put_flow(account, flow_id, body))

    async def check(self, request: web.Request) -> None:
        """Validate a flow without storing it."""
        account, flow_id = name_in(request, "account"), name_in(request, "flow")
        recognizers = await self.dial_policy.recognizers(account)
        limits = replace(self.limits, recognizers=recognizers)
        await self._validated_body(request, account, flow_id, limits)

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

    async def _validated_body(
        self, request: web.Request, account: str, flow_id: str, limits: Limits
    ) -> bytes:
        """Return the body of a valid flow: a graph, or a tree with or without templates."""
        body = await request.read()
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
        return body

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


def _read_flow(body: bytes) -> StoredFlow:
    called = frozenset(flow_id for _, flow_id in called_flows(read_json(body)))
    return StoredFlow(called, len(body))


def _read_requests(bodies: Mapping[str, bytes]) -> dict[str, ApiRequest]:
    return {each: decode_message(body, ApiRequest) for each, body in bodies.items()}


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


def _version(request: web.Request) -> int:
    given = request.query.get("version", "0")
    if not (given.isascii() and given.isdecimal() and len(given) < 10):  # noqa: PLR2004 - digits
        raise BadInput("version", "expected a number")
    return int(given)
