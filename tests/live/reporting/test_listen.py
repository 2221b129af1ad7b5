"""`switchroom listen` with real calls, engines and a REST layer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from redis.asyncio import Redis

from base.tasks import cancel_all
from cli.http_client import HttpClient
from cli.listen import ListenSession, LocalServer
from cli.options.connection import ClientSettings
from cli.rest_client import RestClient
from tests.harness.live_lab import Lab
from tests.harness.metrics_page import figures
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tests.harness.servers.engine import Engine
from tests.harness.until import MAX_WAIT_S, until

NOWHERE = "http://127.0.0.1:1/next?step=1"  # nothing answers at the address of production
LISTENERS = "/srmain/voice/listeners"
LEASES = "{listeners}:leases"


class LocalApplication:
    """A developer's application: it keeps its requests, and answers the first `held` late."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []  # idempotency key, event, path
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.url = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator["LocalApplication"]:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    @property
    def keys(self) -> list[str]:
        """Return the ids of the requests for an action."""
        return [key for key, event, _ in self.requests if event == "start"]

    async def _answer(self, request: web.Request) -> web.Response:
        body = json.loads(await request.text())
        key = request.headers.get("Idempotency-Key", "")
        self.requests.append((key, body["event"], request.path_qs))
        if body["event"] == "start":
            await self.may_answer.wait()
        return web.json_response({"type": "hangup"} if body["event"] == "start" else None)


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer in front of the engine; its number allows listeners."""
    async with Api(tmp_path / "api", engines=[lab.engine]) as running:
        route = {"action": NOWHERE, "allowListeners": True}
        path = f"/srmain/voice/numbers/{NUMBER}/route"
        await running.request("PUT", path, route, token=running.api_key)
        yield running


@asynccontextmanager
async def listening(api: Api, engine: Engine, local: LocalApplication) -> AsyncIterator[list[str]]:
    """Listen to the account's number, as the command does; yield what it says."""
    said: list[str] = []
    http = HttpClient(api.url, api.api_key, None)
    settings = ClientSettings(
        api_url=api.url, api_key=api.api_key, api_secret=api.api_secret, account=ACCOUNT
    )
    session = ListenSession(
        RestClient(http, settings),
        LocalServer(local.url),
        {"number": NUMBER},
        lambda *_exchange: None,
        said.append,
    )
    task = asyncio.create_task(session.run("started"))
    token = await api.token()

    async def is_live() -> bool:
        assert not task.done(), task.exception()
        return bool((await api.request("GET", LISTENERS, token=token))["total"])

    try:
        await until(is_live, what="the listener")
        await until(lambda: _knows_listener(engine), what="the engine to know the listener")
        yield said
    finally:
        await cancel_all([task])
        assert (await api.request("GET", LISTENERS, token=token))["total"] == 0


async def prolong_leases(lab: Lab) -> None:
    """Let listeners live on for longer than a busy machine needs to start an engine."""
    async with Redis.from_url(lab.valkey.url, decode_responses=True) as client:
        for member in await client.zrange(LEASES, 0, -1):
            await client.zincrby(LEASES, 2_000 * MAX_WAIT_S, str(member))


async def _knows_listener(engine: Engine) -> bool:
    return (await figures(engine))["switchroom_listeners", ()] == 1


async def test_a_local_server_answers_the_webhooks_of_a_call(api: Api, lab: Lab) -> None:
    """Its action runs, and it gets the call's events, at the paths of production's addresses."""
    token = await api.token()
    async with (
        LocalApplication().open() as local,
        listening(api, lab.engine, local),
        Phone.answering(lab.trunk_port) as phone,
    ):
        body = {
            "from": NUMBER,
            "to": "+4722222222",
            "action": NOWHERE,
            "statusCallbackUrl": "auto-set",
        }
        target = {"target": "http://127.0.0.1:1/events"}
        await api.request("PUT", "/srmain/voice/callbacks", target, token=token)
        call = (await api.request("POST", "/srmain/voice/call", body, token=token))["callId"]
        await phone.wait_ended()
        await lab.wait_ended(call)
        await until(lambda: any(each[1] == "completed" for each in local.requests))
    assert [path for _, event, path in local.requests if event == "start"] == ["/next?step=1"]
    assert {path for _, event, path in local.requests if event != "start"} == {"/events"}


async def test_a_killed_engine_repeats_the_request(api: Api, lab: Lab) -> None:
    """With the same idempotency key; the response to the repetition counts."""
    token = await api.token()
    async with (
        LocalApplication().open() as local,
        listening(api, lab.engine, local),
        Phone.answering(lab.trunk_port) as phone,
    ):
        local.may_answer.clear()
        body = {"from": NUMBER, "to": "+4722222222", "action": NOWHERE}
        call = (await api.request("POST", "/srmain/voice/call", body, token=token))["callId"]
        await until(lambda: len(local.keys) == 1, what="the request")
        await lab.engine.kill()
        await prolong_leases(lab)
        await lab.ensure_running()
        await until(lambda: len(local.keys) >= 2, what="the repetition")
        local.may_answer.set()
        await phone.wait_ended()
        assert (await lab.wait_ended(call))["status"] == "completed"
    assert len(set(local.keys)) == 1
