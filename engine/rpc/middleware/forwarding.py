"""Any engine answers any request: what is about another's slot is handed on, one hop at most."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.rpc.middleware.tracing import carried
from engine.rpc.peers.client import AGAIN_S, HANDED_ON, NEVER_SENT, Hop, is_handed_on
from engine.rpc.problems import Handler, reply
from engine.runtime.shard.commit_ack import NotOwner
from wire.rpc import Problem

ANSWER_S = 10.0
LAST_WORD_S = 0.3  # an owner that hands over answers what it has done
SOON = {"Retry-After": "1"}


def forwarding(hop: Hop) -> Middleware:
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
            if is_handed_on(request):
                return _nobody()
            url = hop.owners.url_of(slot)
            answer = await _handed_on(hop, slot, url, request) if url is not None else None
            if answer is not None:
                return answer
            if loop.time() >= began_s + hop.wait_s:
                return _nobody()
            hop.owners.look()
            await asyncio.sleep(AGAIN_S)

    return forward


async def _handed_on(
    hop: Hop, slot: int | None, url: str, request: web.Request
) -> web.Response | None:
    """Ask the owner; None when it did not do it, and the next owner may."""
    try:
        async with (
            _while_owner(hop, slot, url),
            hop.session.request(
                request.method,
                f"{url}{request.rel_url}",
                data=await request.read(),
                headers={"Content-Type": request.content_type, **carried(request)},
            ) as answered,
        ):
            body = await answered.read()
    except NEVER_SENT:
        return None
    except (aiohttp.ClientError, TimeoutError) as error:
        if request.method == "GET":
            return None
        detail = f"{type(error).__name__}: it may have been done"
        return reply(Problem("Not now", 503, "owner_lost", detail), SOON)
    if answered.headers.get(HANDED_ON) == "nobody":
        return None
    return _passed_on(answered, body)


@asynccontextmanager
async def _while_owner(hop: Hop, slot: int | None, url: str) -> AsyncIterator[None]:
    """Raise TimeoutError in time, and soon when the slot has become another's: it is frozen."""
    loop = asyncio.get_running_loop()

    async def watch() -> None:
        while slot is None or hop.owners.url_of(slot) == url:  # noqa: ASYNC110 - peers tell nobody
            await asyncio.sleep(AGAIN_S)
        deadline.reschedule(min(deadline.when() or 0, loop.time() + LAST_WORD_S))

    async with asyncio.timeout(ANSWER_S) as deadline:
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
    return reply(problem, {**SOON, HANDED_ON: "nobody"})
