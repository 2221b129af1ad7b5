"""An RPC that gets more requests than it can answer."""

import asyncio
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from engine.rpc.middleware.concurrency_limit import concurrency_limit
from tests.harness.until import until


async def test_beyond_its_limit_it_refuses() -> None:
    """Requests over the limit get 503 with Retry-After at once, until others have ended.

    Streams do not count as requests, and consumer groups not as streams.
    """
    let_go, arrived = asyncio.Event(), []

    async def slow(request: web.Request) -> web.Response:
        arrived.append(request.path)
        await let_go.wait()
        return web.Response()

    app = web.Application(middlewares=[concurrency_limit(2, streams="/events", max_streams=1)])
    app.add_routes([web.get("/calls", slow), web.get("/events", slow)])
    async with TestClient[Any, Any](TestServer(app)) as client:
        paths = ("/calls", "/calls", "/events", "/events?group=cdr")
        running = [asyncio.ensure_future(client.get(path)) for path in paths]
        await until(lambda: len(arrived) == len(paths), what="all to have arrived")
        for path in ("/calls", "/events", "/events?group=cdr"):
            refused = await client.get(path)
            assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
            assert (await refused.json(content_type=None))["code"] == "overloaded"
        let_go.set()
        assert [each.status for each in await asyncio.gather(*running)] == [200] * 4
        assert (await client.get("/calls")).status == 200
