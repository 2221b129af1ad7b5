"""Middleware that forwards requests to the engine that owns the shard, over one hop at most."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Middleware

from base.http_client import failure_word
from base.loop_cost import SERVER_TIMING
from engine.rpc.middleware.measurement import trace_headers
from engine.rpc.peers.client import (
    FORWARDED,
    NOT_SENT_ERRORS,
    RETRY_DELAY_S,
    PeerClient,
    is_forwarded,
)
from engine.rpc.problems import PROBLEM_TYPE, Handler, problem_response
from engine.runtime.admission.node_selection import ENGINE_CODES, NODE_CODES
from engine.runtime.shard.control_requests import LighterLoadElsewhere, NotOwner
from wire.decoding.messages import decode_message
from wire.error_codes.problems import coded_problem
from wire.rpc import Problem
from wire.shard import ShardId

RESPONSE_TIMEOUT_S = 10.0
HANDOVER_GRACE_S = 0.3  # an engine that hands over a shard still answers finished requests
RETRY_AFTER = {"Retry-After": "1"}
STAYS = web.RequestKey("stays", bool)  # of a request that an engine with less load did not serve
# `store_down` may be said of a call that starts later.
LOAD_CODES = frozenset((*NODE_CODES, *ENGINE_CODES)) - {"store_down"}


def forwarding(peers: PeerClient) -> Middleware:
    @web.middleware
    async def forward(request: web.Request, handler: Handler) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while True:
            may_stay = False
            try:
                return await handler(request)
            except NotOwner as elsewhere:
                shard = elsewhere.shard
                may_stay = isinstance(elsewhere, LighterLoadElsewhere)
            if is_forwarded(request):
                return _no_owner()
            url = peers.directory.url_of(shard)
            answer = await _forward(peers, shard, url, request) if url is not None else None
            if may_stay and (answer is None or _is_refused_for_load(answer)):
                request[STAYS] = True
                continue
            if answer is not None:
                return answer
            if loop.time() >= began_s + peers.owner_wait_s:
                return _no_owner()
            peers.directory.wake()
            await asyncio.sleep(RETRY_DELAY_S)

    return forward


def may_pass_on(request: web.Request) -> bool:
    """Return whether another engine may start the call of a request because it has less load."""
    return not (is_forwarded(request) or request.get(STAYS))


def _is_refused_for_load(answer: web.Response) -> bool:
    if answer.content_type != PROBLEM_TYPE or not isinstance(answer.body, bytes):
        return False
    return decode_message(answer.body, Problem).code in LOAD_CODES


async def _forward(
    peers: PeerClient, shard: ShardId | None, url: str, request: web.Request
) -> web.Response | None:
    """Send the request to the owner; None if it did not run it and the next owner may."""
    try:
        async with (
            _while_owner(peers, shard, url),
            peers.request(
                request.method,
                url,
                request.rel_url,
                await request.read(),
                {"Content-Type": request.content_type, **trace_headers(request)},
            ) as upstream,
        ):
            body = await upstream.read()
    except NOT_SENT_ERRORS:
        return None
    except (aiohttp.ClientError, TimeoutError) as error:
        if request.method == "GET":
            return None
        detail = f"{failure_word(error)}: the request may have been executed"
        return problem_response(coded_problem(503, "owner_lost", detail), RETRY_AFTER)
    if FORWARDED in upstream.headers:  # it has no owner there either
        return None
    if upstream.status == HTTPStatus.UNAUTHORIZED:
        return _refused()
    return _relay(upstream, body)


@asynccontextmanager
async def _while_owner(peers: PeerClient, shard: ShardId | None, url: str) -> AsyncIterator[None]:
    """Raise TimeoutError after the timeout, or soon after the shard has moved to another engine."""
    loop = asyncio.get_running_loop()

    async def watch() -> None:
        while shard is None or peers.directory.url_of(shard) == url:  # noqa: ASYNC110 - ownership has no change event
            await asyncio.sleep(RETRY_DELAY_S)
        deadline.reschedule(min(deadline.when() or 0, loop.time() + HANDOVER_GRACE_S))

    async with asyncio.timeout(RESPONSE_TIMEOUT_S) as deadline:
        watcher = loop.create_task(watch())
        try:
            yield
        finally:
            watcher.cancel()


def _relay(upstream: aiohttp.ClientResponse, body: bytes) -> web.Response:
    relayed = ("Retry-After", SERVER_TIMING)
    return web.Response(
        status=upstream.status,
        body=body,
        content_type=upstream.content_type,
        headers={name: upstream.headers[name] for name in relayed if name in upstream.headers},
    )


def _refused() -> web.Response:
    detail = "the call's engine refuses this one: compare SWITCHROOM_RPC_TOKEN, versions and clocks"
    return problem_response(coded_problem(503, "owner_refuses", detail), RETRY_AFTER)


def _no_owner() -> web.Response:
    detail = "the call's engine is being replaced"
    headers = {**RETRY_AFTER, FORWARDED: "no-owner"}
    return problem_response(coded_problem(503, "no_owner", detail), headers)
