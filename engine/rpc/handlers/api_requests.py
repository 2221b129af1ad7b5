"""RPC operations on API requests; secrets are write-only."""

import re

import msgspec
from aiohttp import web
from msgspec import Struct

from engine.flows.check import MAX_FLOW_BYTES, read_document
from engine.flows.requests import check_request
from engine.rpc.flow_checks import FlowChecks
from engine.rpc.lookup import name_in
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.decoding.patterns import HEX_ID, PATTERNS
from wire.request import ApiRequest, ApiRequests, ApiRequestView
from wire.tree import Limits


class ApiRequestHandlers(Struct, frozen=True):
    store: Store
    limits: Limits
    checks: FlowChecks

    async def put(self, request: web.Request) -> ApiRequestView:
        """Replace an API request; secrets that are left out are kept, but for another host."""
        account, request_id = name_in(request, "account"), _request_id(request)
        before = await self.store.request(account, request_id)
        stored = _read(before) if before is not None else None
        api_request = await self._checked(account, await request.read(), stored)
        await self.store.put_request(account, request_id, msgspec.json.encode(api_request))
        return _view(request_id, api_request)

    async def check(self, request: web.Request) -> None:
        """Validate an API request, with all its secrets, without storing it."""
        account, _ = name_in(request, "account"), _request_id(request)
        await self._checked(account, await request.read(), None)

    async def get(self, request: web.Request) -> ApiRequestView:
        request_id = request.match_info["request"]
        body = await self.store.request(request.match_info["account"], request_id)
        if body is None:
            raise NotFound(f"no API request {request_id}")
        return _view(request_id, _read(body))

    async def list(self, request: web.Request) -> ApiRequests:
        found = await self.store.requests(request.match_info["account"])
        return ApiRequests(tuple(_view(each, _read(body)) for each, body in sorted(found.items())))

    async def delete(self, request: web.Request) -> None:
        """Delete an API request; a flow that sends it takes its failure branch."""
        account, request_id = request.match_info["account"], request.match_info["request"]
        if await self.store.request(account, request_id) is None:
            raise NotFound(f"no API request {request_id}")
        await self.store.put_request(account, request_id, None)

    async def _checked(self, account: str, body: bytes, stored: ApiRequest | None) -> ApiRequest:
        async with self.checks.turn(account):
            return await self.checks.run(_check, body, self.limits, stored)


def _check(body: bytes, limits: Limits, stored: ApiRequest | None) -> ApiRequest:
    return check_request(read_document(body, MAX_FLOW_BYTES), limits, stored)


def _read(body: bytes) -> ApiRequest:
    return decode_message(body, ApiRequest)


def _view(request_id: str, request: ApiRequest) -> ApiRequestView:
    fields = {
        name: getattr(request, name) for name in ApiRequest.__struct_fields__ if name != "secrets"
    }
    return ApiRequestView(**fields, request_id=request_id, secrets=tuple(sorted(request.secrets)))


def _request_id(request: web.Request) -> str:
    request_id = request.match_info["request"]
    if re.search(HEX_ID, request_id) is None:
        raise BadInput("request", f"expected {PATTERNS[HEX_ID]}")
    return request_id.lower()
