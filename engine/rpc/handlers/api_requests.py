"""API requests over RPC; their secrets come in and never out."""

import re

import msgspec
from aiohttp import web

from engine.flows.check import MAX_FLOW_BYTES, read_document
from engine.flows.requests import check_request
from engine.rpc.handlers.number_routes import name_in
from engine.rpc.json_body import json_response
from engine.rpc.problems import NotFound
from engine.store.store import Store
from wire.errors import BadInput
from wire.patterns import HEX_ID, PATTERNS
from wire.request import ApiRequest, ApiRequests, ApiRequestView
from wire.tree import Limits

_ONE = "/requests/{account}/{request}"


class ApiRequestHandlers:
    """One method a request."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """List what is answered."""
        return [
            web.get("/requests/{account}", self.list),
            web.put(_ONE, self.put),
            web.get(_ONE, self.get),
            web.delete(_ONE, self.delete),
        ]

    async def put(self, request: web.Request) -> web.Response:
        """Store an API request, in place of the one before, whose secrets it keeps."""
        account, request_id = name_in(request, "account"), _id_in(request)
        before = await self._store.request(account, request_id)
        kept = _read(before).secrets if before is not None else {}
        document = read_document(await request.read(), MAX_FLOW_BYTES)
        asked = check_request(document, self._limits, kept)
        await self._store.put_request(account, request_id, msgspec.json.encode(asked))
        return json_response(_view(request_id, asked))

    async def get(self, request: web.Request) -> web.Response:
        """Show an API request."""
        request_id = request.match_info["request"]
        body = await self._store.request(request.match_info["account"], request_id)
        if body is None:
            raise NotFound(f"no API request {request_id}")
        return json_response(_view(request_id, _read(body)))

    async def list(self, request: web.Request) -> web.Response:
        """List an account's API requests."""
        found = await self._store.requests(request.match_info["account"])
        views = (_view(each, _read(body)) for each, body in sorted(found.items()))
        return json_response(ApiRequests(tuple(views)))

    async def delete(self, request: web.Request) -> web.Response:
        """Take an API request away; a flow that sends it goes its way for failures."""
        account, request_id = request.match_info["account"], request.match_info["request"]
        if await self._store.request(account, request_id) is None:
            raise NotFound(f"no API request {request_id}")
        await self._store.put_request(account, request_id, None)
        return json_response({})


def _read(body: bytes) -> ApiRequest:
    return msgspec.json.decode(body, type=ApiRequest)


def _view(request_id: str, request: ApiRequest) -> ApiRequestView:
    shown = {
        name: getattr(request, name) for name in ApiRequest.__struct_fields__ if name != "secrets"
    }
    return ApiRequestView(**shown, request_id=request_id, secrets=tuple(sorted(request.secrets)))


def _id_in(request: web.Request) -> str:
    request_id = request.match_info["request"]
    if re.search(HEX_ID, request_id) is None:
        raise BadInput("request", f"expected {PATTERNS[HEX_ID]}")
    return request_id.lower()
