"""Readers of live events take nothing from call records, nor from other accounts' readers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from api.cdrs.live_events import LiveEvents
from api.cdrs.sse_filter import EventIdCipher
from api.common.errors import ServiceUnavailable
from api.engine_client import open_client
from api.http.event_stream import reader_limit
from engine.rpc.middleware.concurrency_limit import concurrency_limit
from engine.rpc.problems import problem_response
from tests.harness.until import until
from wire.rpc import Problem


async def test_one_account_leaves_room_for_others() -> None:
    """Its streams are limited in each engine; consumer groups are not affected."""
    let_go, arrived = asyncio.Event(), []

    async def slow(request: web.Request) -> web.Response:
        arrived.append(request.path_qs)
        await let_go.wait()
        return web.Response()

    limit = concurrency_limit(9, streams="/events", max_streams=3, max_account_streams=2)
    app = web.Application(middlewares=[limit])
    app.add_routes([web.get("/events", slow)])
    async with TestClient[Any, Any](TestServer(app)) as client:
        running = [asyncio.ensure_future(client.get("/events?account=acme")) for _ in range(2)]
        await until(lambda: len(arrived) == len(running), what="both to have arrived")
        assert (await client.get("/events?account=acme")).status == 503
        others = ("account=other", "group=cdr")
        running += [asyncio.ensure_future(client.get(f"/events?{each}")) for each in others]
        await until(lambda: len(arrived) == len(running), what="the others to have arrived")
        let_go.set()
        assert {each.status for each in await asyncio.gather(*running)} == {200}
        assert (await client.get("/events?account=acme")).status == 200


async def full(_request: web.Request) -> web.Response:
    """Answer as an engine that has no room."""
    return problem_response(Problem("Not now", 503, "overloaded", "no room"), {"Retry-After": "1"})


async def idle(_request: web.Request) -> web.Response:
    """Answer as an engine without events."""
    return web.Response(text=":\n\n")


@asynccontextmanager
async def engines(*handlers: Any) -> AsyncIterator[list[str]]:
    """Serve the streams of several engines; yields their addresses."""
    async with AsyncExitStack() as stack:
        servers = []
        for handler in handlers:
            app = web.Application()
            app.add_routes([web.get("/rpc/v1/events", handler)])
            servers.append(await stack.enter_async_context(TestServer(app)))
        yield [str(each.make_url("")) for each in servers]


async def test_the_next_engine_is_tried() -> None:
    """A full engine does not end the search; when all are full, the reader is told."""
    async with engines(full, idle) as urls, open_client(urls, "token") as client:
        for _ in urls:  # each engine is the first once
            async with client.stream("/events", {}, {}) as content:
                assert await content.read() == b":\n\n"
    async with engines(full, full) as urls, open_client(urls, "token") as client:
        with pytest.raises(ServiceUnavailable, match="no room"):
            async with client.stream("/events", {}, {}):
                pass


async def test_all_readers_of_a_process_are_limited() -> None:
    """Whatever their accounts are."""
    async with engines(idle) as urls, open_client(urls, "token") as client:
        live = LiveEvents(client, EventIdCipher("s" * 32), reader_limit(2))
        streams = [
            await live.stream(account, None, asyncio.Event().wait) for account in ("acme", "other")
        ]
        assert len(streams) == 2
        with pytest.raises(ServiceUnavailable, match="too many event streams") as refused:
            await live.stream("third", None, asyncio.Event().wait)
        assert refused.value.retry_after_s == 5
