"""A response says what its request cost the engines."""

from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from base.loop_cost import CHARGE, SERVER_TIMING, from_header
from engine.rpc.middleware.measurement import costs
from tests.harness.rpc.pair import running_pair
from tests.harness.rpc.scene import TOKEN, RpcScene
from tests.harness.shards import at


async def test_each_response_has_its_cost(scene: RpcScene) -> None:
    """Also that of an error."""
    for path in ("/calls", "/calls/0-pbx1-00000000", "/calls?limit=x"):
        assert await _cost(scene, path) > 0


async def test_what_is_charged_and_what_another_engine_has_said() -> None:
    """They are added up; a response that has begun has no cost."""

    async def work(_request: web.Request) -> web.Response:
        CHARGE.get()(0.25)
        return web.Response()

    async def relay(_request: web.Request) -> web.Response:
        CHARGE.get()(0.25)
        return web.Response(headers={SERVER_TIMING: "cpu;dur=1000.0"})

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        return response

    app = web.Application(middlewares=[costs()])
    app.add_routes([web.get("/work", work), web.get("/relay", relay), web.get("/stream", stream)])
    async with TestClient[Any, Any](TestServer(app)) as client:
        found = [
            from_header((await client.get(path)).headers.get(SERVER_TIMING))
            for path in ("/work", "/work", "/relay", "/stream")
        ]
    assert [int(each * 4) / 4 for each in found] == [0.25, 0.25, 1.25, 0]


async def test_the_cost_of_a_forwarded_request(tmp_path: Any) -> None:
    """It is that of both engines."""

    async def owner(_request: web.Request) -> web.Response:
        return web.json_response({}, headers={SERVER_TIMING: "cpu;dur=3000.0"})

    app = web.Application()
    app.add_routes([web.get("/{path:.*}", owner)])
    async with running_pair(tmp_path) as pair, TestServer(app) as server:
        pair.directories[pair.one].where = {at(1): str(server.make_url("")).rstrip("/")}
        assert await _cost(pair.one, "/calls/1-pbx1-00000000/timeline") > 3


async def _cost(scene: RpcScene, path: str) -> float:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.get(f"{scene.url}/rpc/v1{path}") as reply,
    ):
        return from_header(reply.headers.get(SERVER_TIMING))
