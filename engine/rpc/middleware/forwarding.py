"""Any engine answers any request: what is about another's slot is handed on, one hop at most."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.rpc.middleware.tracing import trace_headers
from engine.rpc.peers.client import (
    FORWARDED,
    NOT_SENT_ERRORS,
    RETRY_DELAY_S,
    PeerClient,
    is_forwarded,
)
from engine.rpc.problems import Handler, problem_response
from engine.runtime.shard.commit_ack import NotOwner
from wire.rpc import Problem

RESPONSE_TIMEOUT_S = 10.0
HANDOVER_GRACE_S = 0.3  # an owner that hands over answers what it has done
RETRY_AFTER = {"Retry-After": "1"}


def forwarding(hop: PeerClient) -> Middleware:
    """Give the middleware that hands requests on."""

    @web.middleware
    async def forward(request: web.Request, handler: Handler) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while True:
            try:
                return await handler(request)
            except NotOwner as elsewhere:
                slot = elsewhere.slot
            if is_forwarded(request):
                return _nobody()
            url = hop.directory.url_of(slot)
            answer = await _handed_on(hop, slot, url, request) if url is not None else None
            if answer is not None:
                return answer
            if loop.time() >= began_s + hop.owner_wait_s:
                return _nobody()
            hop.directory.wake()
            await asyncio.sleep(RETRY_DELAY_S)

    return forward


async def _handed_on(
    hop: PeerClient, slot: int | None, url: str, request: web.Request
) -> web.Response | None:
    """Ask the owner; None when it did not do it, and the next owner may."""
    try:
        async with (
            _while_owner(hop, slot, url),
            hop.session.request(
                request.method,
                f"{url}{request.rel_url}",
                data=await request.read(),
                headers={"Content-Type": request.content_type, **trace_headers(request)},
            ) as answered,
        ):
            body = await answered.read()
    except NOT_SENT_ERRORS:
        return None
    except (aiohttp.ClientError, TimeoutError) as error:
        if request.method == "GET":
            return None
        detail = f"{type(error).__name__}: it may have been done"
        return problem_response(Problem("Not now", 503, "owner_lost", detail), RETRY_AFTER)
    if answered.headers.get(FORWARDED) == "nobody":
        return None
    return _passed_on(answered, body)


@asynccontextmanager
async def _while_owner(hop: PeerClient, slot: int | None, url: str) -> AsyncIterator[None]:
    """Raise TimeoutError in time, and soon when the slot has become another's: it is frozen."""
    loop = asyncio.get_running_loop()

    async def watch() -> None:
        while slot is None or hop.directory.url_of(slot) == url:  # noqa: ASYNC110 - peers tell nobody
            await asyncio.sleep(RETRY_DELAY_S)
        deadline.reschedule(min(deadline.when() or 0, loop.time() + HANDOVER_GRACE_S))

    async with asyncio.timeout(RESPONSE_TIMEOUT_S) as deadline:
        watching = loop.create_task(watch())
        try:
            yield
        finally:
            watching.cancel()


def _passed_on(answered: aiohttp.ClientResponse, body: bytes) -> web.Response:
    again = answered.headers.get("Retry-After")
    return web.Response(
        status=answered.status,
        body=body,
        content_type=answered.content_type,
        headers={"Retry-After": again} if again else None,
    )


def _nobody() -> web.Response:
    problem = Problem("Not now", 503, "no_owner", "the call's engine is being replaced")
    return problem_response(problem, {**RETRY_AFTER, FORWARDED: "nobody"})
