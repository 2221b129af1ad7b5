"""Any engine answers any request: what is about another's slot is handed on, one hop at most."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Middleware

from engine.rpc.problems import Handler, reply
from engine.rpc.tracing import carried
from engine.runtime.switch import Elsewhere
from wire.rpc import Problem

HANDED_ON = "Switchroom-Forwarded"
WAIT_S = 3.0  # a slot between two owners has one soon
AGAIN_S = 0.05
ANSWER_S = 10.0


class Owners(Protocol):
    """Who knows the other engines."""

    @property
    def is_settled(self) -> bool:
        """Whether every slot is this engine's, or that of another that lives."""

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the engine is that has a slot, or, for None, any slot; None: nobody else."""


@asynccontextmanager
async def forwarding(owners: Owners, token: str) -> AsyncIterator[Middleware]:
    """Give the middleware that hands requests on, for as long as the context lasts."""
    headers = {"Authorization": f"Bearer {token}", HANDED_ON: "1"}
    timeout = aiohttp.ClientTimeout(total=ANSWER_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield _middleware(owners, session)


def _middleware(owners: Owners, session: aiohttp.ClientSession) -> Middleware:
    @web.middleware
    async def forward(request: web.Request, handler: Handler) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + WAIT_S
        while True:
            try:
                return await handler(request)
            except Elsewhere as elsewhere:
                answer = await _handed_on(owners, session, request, elsewhere.slot)
            if answer is not None:
                return answer
            if HANDED_ON in request.headers or loop.time() >= until_s:
                return _nobody()
            await asyncio.sleep(AGAIN_S)

    return forward


async def _handed_on(
    owners: Owners, session: aiohttp.ClientSession, request: web.Request, slot: int | None
) -> web.Response | None:
    """Ask the owner; None when there is none, or it is none any more."""
    url = owners.url_of(slot)
    if url is None or HANDED_ON in request.headers:
        return None
    try:
        async with session.request(
            request.method,
            f"{url}{request.rel_url}",
            data=await request.read(),
            headers={"Content-Type": request.content_type, **carried(request)},
        ) as answered:
            body = await answered.read()
    except aiohttp.ClientConnectorError:
        return None  # never sent: it may be asked of the next owner
    except (aiohttp.ClientError, TimeoutError) as error:
        return reply(Problem("Not now", 503, "owner_lost", f"{type(error).__name__} on its way"))
    if answered.headers.get(HANDED_ON) == "nobody":
        return None
    again = answered.headers.get("Retry-After")
    return web.Response(
        status=answered.status,
        body=body,
        content_type=answered.content_type,
        headers={"Retry-After": again} if again else None,
    )


def _nobody() -> web.Response:
    problem = Problem("Not now", 503, "no_owner", "the call's engine is being replaced")
    return reply(problem, {"Retry-After": "1", HANDED_ON: "nobody"})
