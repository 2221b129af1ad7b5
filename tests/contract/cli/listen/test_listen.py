"""`switchroom listen`, with the REST layer, the store of an engine and a local server."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from base.tasks import cancel_all
from cli.errors import RequestRejected, UsageError
from cli.http_client import HttpClient
from cli.listen import MAX_BODY_BYTES, ListenSession, LocalServer
from cli.options.connection import ClientSettings
from cli.rest_client import RestClient
from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import Served, serve_rest
from tests.harness.memory_store.listeners import MemoryListeners
from tests.harness.ports import free_port
from tests.harness.rpc.scene import RpcScene
from tests.harness.until import until
from tests.harness.webhooks.development import allow_listeners
from wire.listeners import ListenerRequest, ListenerResponse

NUMBER = "+4721930000"
HANGUP = '{"type": "hangup"}'
STARTED = "webhooks go to this machine"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Developer:
    """A developer's machine: a local server, and the command that listens."""

    def __init__(self, served: Served, store: MemoryListeners) -> None:
        self.store = store
        self.served = served
        self.received: list[tuple[str, dict[str, str], str]] = []
        self.shown: list[tuple[ListenerRequest, ListenerResponse, str]] = []
        self.said: list[str] = []
        self.response: Handler | None = None
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Respond as the test wants, or with an action."""
        self.received.append((request.path_qs, dict(request.headers), await request.text()))
        return await self.response(request) if self.response else web.Response(text=HANGUP)

    def session(self, number: str = NUMBER) -> ListenSession:
        settings = ClientSettings(api_url=self.served.url)
        http = HttpClient(self.served.url, self.served.keys["acme"], None)

        def show(request: ListenerRequest, response: ListenerResponse, note: str) -> None:
            self.shown.append((request, response, note))

        return ListenSession(
            RestClient(http, settings),
            LocalServer(self.url),
            {"number": number},
            show,
            self.said.append,
        )

    async def offer(self, request_id: str = "r1") -> str:
        """Offer a request to the one listener, as an engine does; return the listener's id."""
        listeners = await self.store.live()
        until_ms = int(time.time() * 1000) + 5_000
        request = ListenerRequest(
            request_id,
            "POST",
            "https://production.example/next?a=%20b",
            {"Content-Type": "application/json", "Idempotency-Key": "c1.r0"},
            '{"text": "æ"}',
            until_ms,
        )
        await self.store.offer(listeners[0].id, request_id, msgspec.json.encode(request), 5_000)
        return listeners[0].id

    async def exchange(self, request_id: str = "r1") -> ListenerResponse:
        """Offer a request, and return the response as an engine gets it."""
        listener = await self.offer(request_id)
        found = await self.store.response(listener, request_id, 5_000)
        assert found is not None
        return msgspec.json.decode(found, type=ListenerResponse)


async def wait_for_another(developer: Developer, before: set[str]) -> None:
    """Return once there is a listener that was not there before."""

    async def is_there() -> bool:
        return bool({each.id for each in await developer.store.live()} - before)

    await until(is_there)


@asynccontextmanager
async def listening(developer: Developer) -> AsyncIterator[asyncio.Task[None]]:
    """Run the command within the context."""
    before = {each.id for each in await developer.store.live()}
    task = asyncio.create_task(developer.session().run(STARTED))
    try:
        await wait_for_another(developer, before)
        yield task
    finally:
        await cancel_all([task])


@pytest.fixture
async def developer(scene: RpcScene, tmp_path: Path) -> AsyncIterator[Developer]:
    """Provide a developer with a key of an account that has a number."""
    async with serve_rest(sqlite_url(tmp_path), scene.url) as served:
        await served.add("acme")
        await served.services.accounts.add_number("acme", NUMBER)
        await allow_listeners(scene.store, NUMBER)
        made = Developer(served, scene.store.listeners)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", made.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield made
        finally:
            await runner.cleanup()


async def test_a_local_server_answers(developer: Developer) -> None:
    """It gets path, query, headers and body; its response is sent and shown; then all ends."""
    async with listening(developer):
        response = await developer.exchange()
        await until(lambda: len(developer.shown) == 1)
    assert (response.status, response.body, response.fault) == (200, HANGUP, None)
    path, headers, body = developer.received[0]
    assert (path, body) == ("/next?a=%20b", '{"text": "æ"}')
    assert headers["Idempotency-Key"] == "c1.r0"
    assert developer.shown[0][1:] == (response, "")
    assert await developer.store.live() == []


async def test_responses_that_cannot_be_sent_become_faults(developer: Developer) -> None:
    """A server that is too verbose, sends no text, or is not there."""

    async def large(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="x" * (MAX_BODY_BYTES + 1))

    async def binary(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"\xff\xfe")

    async def moved(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/else"})

    async with listening(developer):
        developer.response = large
        assert (await developer.exchange("r1")).fault == "too_large"
        developer.response = binary
        assert (await developer.exchange("r2")).fault == "not_text"
        developer.response = moved
        assert (await developer.exchange("r3")).status == 302
        assert len(developer.received) == 3
    developer.url = f"http://127.0.0.1:{free_port()}"
    async with listening(developer):
        assert (await developer.exchange("r4")).fault == "connect"


async def test_a_request_that_is_not_waited_for_is_shown_as_late(developer: Developer) -> None:
    """The call has gone on; nothing else happens."""
    async with listening(developer):
        listener = await developer.offer()
        assert await developer.store.respond(listener, "r1", b"{}")
        await until(lambda: len(developer.shown) == 1)
    assert developer.shown[0][2] == "too late: the call has gone on"


async def test_a_replaced_listener_ends_with_an_error(developer: Developer) -> None:
    """The newer one of the number goes on."""
    async with listening(developer) as old, listening(developer) as new:
        await developer.exchange()
        with pytest.raises(RequestRejected, match="newer listener"):
            await old
        assert not new.done()
        assert len(await developer.store.live()) == 1


async def test_a_lost_listener_is_started_again(developer: Developer) -> None:
    """As after a loss of the store's data."""
    async with listening(developer):
        lost = (await developer.store.live())[0].id
        await developer.store.remove("acme", lost)
        await until(lambda: developer.said != [STARTED])
        await wait_for_another(developer, {lost})
        assert (await developer.exchange()).body == HANGUP
    assert developer.said == [STARTED, "the listener has ended; starting it again"]


async def test_a_listener_whose_client_has_died_ends_soon(developer: Developer) -> None:
    """The REST layer notices the closed connection, and does not poll until the end of its poll."""
    path = "/srmain/voice/listeners"
    _, made = await developer.served.request("POST", path, body={"number": NUMBER})
    poll = developer.served.request("GET", f"{path}/{made['id']}/requests", wait=20)
    polling = asyncio.create_task(poll)
    await until(lambda: developer.store.renewals == 1, what="the poll")
    await cancel_all([polling])

    async def has_ended() -> bool:
        return await developer.store.live() == []

    await until(has_ended, what="the end of the listener")
    assert developer.store.renewals <= 2


async def test_a_number_of_another_account_is_rejected(developer: Developer) -> None:
    """Before anything is sent."""
    with pytest.raises(RequestRejected):
        await developer.session("+4799999999").run(STARTED)
    assert developer.said == []  # not that it listens


@pytest.mark.parametrize("url", ["localhost:3000", "ftp://localhost", "http://localhost/path", ""])
def test_a_forward_address_has_no_path(url: str) -> None:
    """The path is that of the webhook."""
    with pytest.raises(UsageError, match="--forward"):
        LocalServer(url)
