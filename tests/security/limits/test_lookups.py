"""Names whose servers are silent: lookups of one account delay no connection of another."""

import asyncio
import random
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from base.lookups import CUSTOMERS_THREADS, MAX_LOOKUPS_PER_ACCOUNT, Found, Lookups
from base.tasks import cancel_all
from engine.app.account_networks import address_guards, open_sessions
from engine.callbacks.transport import Delivered, SignedEvent
from engine.callbacks.transports.grpc import GrpcTransport
from engine.callbacks.transports.http import HttpTransport
from engine.config import Settings
from engine.media.clip import MediaLimits, OwnedSource
from engine.media.clip_maker import ClipMaker
from engine.media.files import ClipFiles
from engine.webhooks.action_client import ActionClient
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.log.exchange import Subject
from tests.harness.settings import read_settings
from tests.harness.signing import fixed_signer
from wire.callbacks.targets import GrpcTarget, HttpsTarget
from wire.media import Audio
from wire.request import ApiRequest
from wire.tree import Limits

Way = Callable[[str, str], Awaitable[object]]  # by account and URL
SILENT = CUSTOMERS_THREADS + 8  # more than all threads


class SilentNames:
    """A resolver whose names of `silent` have no answer until a test ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self.waiting = 0
        self.are_waiting = asyncio.Event()

    def look_up(self, host: str, port: int) -> list[Found]:
        if host.endswith(".silent"):
            with self._lock:
                self.waiting += 1
                if self.waiting == MAX_LOOKUPS_PER_ACCOUNT:
                    self._loop.call_soon_threadsafe(self.are_waiting.set)
            self._ended.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    def end(self) -> None:
        self._ended.set()


class Engine:
    """An engine's ways to customers' servers, and one such server."""

    def __init__(self, lookups: Lookups, folder: Path) -> None:
        self._settings: Settings = read_settings({"webhook_allow": ["127.0.0.0/8"]})
        self._lookups = lookups
        self._folder = folder

    async def open(self, stack: AsyncExitStack) -> None:
        app = web.Application()
        app.add_routes([web.route("*", "/", answer)])
        self.server = await stack.enter_async_context(TestServer(app))
        allowed = self._settings.webhook_allow
        self.sessions = await open_sessions(stack, self._settings, allowed, self._lookups)
        guard = address_guards(self._settings, allowed).public
        self._grpc = GrpcTransport(guard, self._lookups)
        stack.push_async_callback(self._grpc.close)

    def url(self, host: str) -> str:
        return str(self.server.make_url("/").with_host(host))

    async def callback(self, account: str, url: str) -> object:
        transport = HttpTransport(self.sessions.of)
        return await transport.deliver(HttpsTarget(url), SignedEvent(account, "1", b"{}"))

    async def grpc(self, account: str, url: str) -> object:
        target = GrpcTarget(urlsplit(url).hostname or "", 50051)
        return await self._grpc.deliver(target, SignedEvent(account, "1", b"{}"))

    async def webhook(self, account: str, url: str) -> object:
        client = ActionClient(self.sessions.of, Limits(), fixed_signer(), time.time, random.random)
        return await client.ask(account, url, b"{}", "1")

    async def api_request(self, account: str, url: str) -> object:
        sender = ApiSender(self.sessions.of, time.time, random.random)
        signer = await fixed_signer()(account)
        subject = Subject(account, "request", "1")
        return await sender.send(ApiRequest(url), lambda _name: None, subject, signer)

    async def audio(self, account: str, url: str) -> object:
        # Each has its own: one lets an account have a few downloads at once.
        limits = MediaLimits()
        maker = ClipMaker(ClipFiles(self._folder, limits), self.sessions.of, [], limits)
        return await maker.make(OwnedSource(account, Audio(url)), "", 0)


async def answer(_request: web.Request) -> web.Response:
    return web.json_response({"type": "hangup"})


@asynccontextmanager
async def engine_with(folder: Path) -> AsyncIterator[tuple[Engine, SilentNames]]:
    names = SilentNames(asyncio.get_running_loop())
    with ThreadPoolExecutor(CUSTOMERS_THREADS) as threads:
        async with AsyncExitStack() as stack:
            stack.callback(names.end)
            engine = Engine(Lookups(names.look_up, threads), folder)
            await engine.open(stack)
            yield engine, names


@pytest.mark.parametrize(
    "way",
    [
        Engine.callback,
        Engine.grpc,
        Engine.webhook,
        Engine.api_request,
        Engine.audio,
    ],
)
async def test_silent_names_delay_no_other_account(
    tmp_path: Path, way: Callable[[Engine, str, str], Awaitable[object]]
) -> None:
    """They hold the account's own lookups only; an address waits for none at all."""
    async with engine_with(tmp_path) as (engine, names):
        attack = [
            asyncio.ensure_future(way(engine, "mallory", engine.url(f"{number}.silent")))
            for number in range(SILENT)
        ]
        await names.are_waiting.wait()
        for account, host in (
            ("acme", "acme.example"),
            ("acme", "127.0.0.1"),
            ("mallory", "127.0.0.1"),
        ):
            assert await engine.callback(account, engine.url(host)) == Delivered()
        assert names.waiting == MAX_LOOKUPS_PER_ACCOUNT
        await cancel_all(attack)
