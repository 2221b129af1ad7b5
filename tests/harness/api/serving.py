"""The REST layer over real HTTP, which streams need; with an engine only if one is given."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp

from api.accounts.store import Account
from api.app import create_app
from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from api.common.clock import Clock, now_ms
from api.config import Settings
from api.http.header_limits import HeaderLimits
from api.http.phone_websockets import PhoneLimits, PhoneWebsockets
from api.metrics import Metrics
from api.serve import server
from api.services import Services, open_services
from tests.harness.api.databases import migrate_new
from tests.harness.api.rest import settings_for
from tests.harness.until import until

NOWHERE = "http://127.0.0.1:1"


class Served:
    """The service of one process, with the keys of its accounts."""

    def __init__(self, parts: Services, url: str, http: aiohttp.ClientSession) -> None:
        self.services = parts
        self.url = url
        self.http = http
        self.keys: dict[str, str] = {}

    async def add(
        self,
        account_id: str,
        agent_id: str | None = None,
        *,
        name: str = "",
        scopes: tuple[str, ...] = (),
    ) -> None:
        """Create an account if it does not exist, and a key with a name."""
        if account_id not in {each.id for each in await self.services.accounts.all()}:
            await self.services.accounts.add(Account(account_id, account_id))
        given = generate_credentials()
        keys = KeyStore(self.services.database, self.services.now_ms)
        await keys.add(account_id, given, KeyTerms(agent_id, scopes))
        self.keys[name or account_id] = given.api_key

    def headers(self, who: str) -> dict[str, str]:
        """Return the Authorization header of a key; none for an empty name."""
        return {"Authorization": self.keys[who]} if who else {}

    async def request(
        self, method: str, path: str, who: str = "acme", body: object = None, **query: object
    ) -> tuple[int, Any]:
        """Send a request; return status and body."""
        words = {name: str(value) for name, value in query.items()}
        async with self.http.request(
            method, f"{self.url}{path}", params=words, json=body, headers=self.headers(who)
        ) as reply:
            return reply.status, await reply.json(content_type=None)

    async def faults(
        self, method: str, path: str, body: object = None, **query: object
    ) -> set[str]:
        """Send invalid input; return the paths in the problem."""
        status, answer = await self.request(method, path, "acme", body, **query)
        assert (status, answer["status"]) == (400, 400), answer
        return {each["path"] for each in answer["errors"]}


@asynccontextmanager
async def serve_rest(
    database_url: str, engine_url: str = NOWHERE, clock: Clock = now_ms, **more: Any
) -> AsyncIterator[Served]:
    """Serve within the context, without background jobs."""
    settings = settings_for(database_url, engine_url, **more)
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_services(settings, clock))
        await migrate_new(parts.database, settings.database_url)
        port = await stack.enter_async_context(
            _run(settings, create_app(parts), parts.phone_websockets)
        )
        http = await stack.enter_async_context(aiohttp.ClientSession())
        rest = Served(parts, f"http://127.0.0.1:{port}", http)
        await rest.add("acme")
        await rest.add("other")
        yield rest


@asynccontextmanager
async def run_server(
    settings: Settings, app: object, heads: type[HeaderLimits] = HeaderLimits
) -> AsyncIterator[int]:
    """Run an application as the service does; yield its port."""
    phones = PhoneWebsockets((), (), lambda _: None, PhoneLimits(0, 0), False, Metrics())
    async with _run(settings, app, phones, heads) as port:
        yield port


@asynccontextmanager
async def _run(
    settings: Settings,
    app: object,
    phones: PhoneWebsockets,
    heads: type[HeaderLimits] = HeaderLimits,
) -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uvicorn = server(settings, app, phones, heads)
        task = asyncio.create_task(uvicorn.serve(sockets=[listener]))
        try:
            await until(lambda: uvicorn.started, what="the service")
            yield listener.getsockname()[1]
        finally:
            uvicorn.should_exit = True
            await task
