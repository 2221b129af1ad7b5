"""The engine's HTTP server: RPC behind a token, media for PBX nodes, health and metrics."""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Middleware
from msgspec import Struct, field

from engine.callbacks.targets import Accounts
from engine.media.clip_cache import ClipCache
from engine.media.serve import media_routes
from engine.observe.telemetry import Instruments
from engine.rpc.handlers.agents import AgentHandlers
from engine.rpc.handlers.api_requests import RequestHandlers
from engine.rpc.handlers.audit import ReplayHandlers
from engine.rpc.handlers.callbacks import CallbackHandlers
from engine.rpc.handlers.calls import CallsHandlers
from engine.rpc.handlers.conferences import ConferenceHandlers
from engine.rpc.handlers.consumer_groups import GroupHandlers
from engine.rpc.handlers.control import ControlHandlers
from engine.rpc.handlers.dead_letters import LetterHandlers
from engine.rpc.handlers.dial_policy import TermsHandlers
from engine.rpc.handlers.events import EventHandlers
from engine.rpc.handlers.flows import FlowHandlers
from engine.rpc.handlers.nodes import NodeHandlers
from engine.rpc.handlers.number_routes import DocumentHandlers
from engine.rpc.handlers.recordings import RecordingHandlers
from engine.rpc.handlers.transfers import TransferHandlers
from engine.rpc.health import health_routes
from engine.rpc.json_body import MOST_BYTES, answer
from engine.rpc.metrics.page import Page, metrics_routes
from engine.rpc.middleware.concurrency_limit import crowding
from engine.rpc.middleware.forwarding import forwarding
from engine.rpc.middleware.timing import timing
from engine.rpc.middleware.tracing import tracing
from engine.rpc.peers.client import Hop, Owners, hopping
from engine.rpc.peers.fan_out import Everyone
from engine.rpc.problems import Handler, problems, reply
from engine.rpc.schemas import schema, schema_of
from engine.runtime.agents.status import Roster
from engine.runtime.policy.dial_policy import TermsBook
from engine.runtime.service import Switch
from engine.store.store import Store
from wire.rpc import Problem
from wire.tree import Limits


class NotServed(Exception):
    """The server can't listen where it is to."""


class Parts(Struct, frozen=True):
    """What the server shows of an engine."""

    switch: Switch
    store: Store
    library: ClipCache
    limits: Limits
    slots: int
    roster: Roster
    owners: Owners
    accounts: Accounts
    terms: TermsBook
    seen: Instruments = field(default_factory=Instruments)
    most_requests: int = 1_000  # at once


@asynccontextmanager
async def serving(parts: Parts, token: str, host: str, port: int) -> AsyncIterator[None]:
    """Serve for as long as the context lasts; raises NotServed."""
    async with hopping(parts.owners, token) as hop, _served(parts, token, hop) as runner:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise NotServed(f"can't listen at {host}:{port}: {error.strerror}") from error
        yield


@asynccontextmanager
async def _served(parts: Parts, token: str, hop: Hop) -> AsyncIterator[web.AppRunner]:
    app = web.Application(client_max_size=MOST_BYTES)
    app.add_subapp("/rpc/v1", rpc_app(parts, token, hop))
    app.add_routes(media_routes(parts.library))
    app.add_routes(health_routes(parts.switch, parts.store, parts.owners))
    app.add_routes(metrics_routes(_page(parts)))
    # Handlers that stream end with the server, not after it.
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a packed body is refused, not unpacked before we look
        handler_cancellation=True,
        shutdown_timeout=0.5,
    )
    await runner.setup()
    try:
        yield runner
    finally:
        await runner.cleanup()


def rpc_app(parts: Parts, token: str, hop: Hop) -> web.Application:
    """Build the application that answers under /rpc/v1."""
    crowd = crowding(parts.most_requests, streams="/rpc/v1/events")
    guards = (problems, _only(token), crowd, forwarding(hop))
    app = web.Application(middlewares=[*_seen(parts.seen), *guards])
    everyone = Everyone(hop)
    app.add_routes(ReplayHandlers(parts.store, parts.slots).routes())
    calls = CallsHandlers(
        parts.switch, parts.store, parts.limits, everyone, parts.accounts, parts.terms
    )
    app.add_routes(calls.routes())
    app.add_routes(ControlHandlers(parts.switch, parts.limits, parts.terms).routes())
    app.add_routes(RecordingHandlers(parts.switch).routes())
    app.add_routes(TransferHandlers(parts.switch, parts.limits, parts.terms).routes())
    conferences = ConferenceHandlers(parts.switch, parts.limits, everyone, parts.terms)
    app.add_routes(conferences.routes())
    app.add_routes(AgentHandlers(parts.store, parts.roster, everyone).routes())
    app.add_routes(DocumentHandlers(parts.store, parts.limits).routes())
    callbacks = CallbackHandlers(parts.store, parts.accounts, parts.limits)
    app.add_routes(callbacks.routes())
    letters = LetterHandlers(parts.store.outbox, parts.accounts, parts.slots)
    app.add_routes(letters.routes())
    app.add_routes(FlowHandlers(parts.store, parts.limits).routes())
    app.add_routes(RequestHandlers(parts.store, parts.limits).routes())
    app.add_routes(TermsHandlers(parts.store.terms, parts.terms).routes())
    app.add_routes(NodeHandlers(parts.switch).routes())
    app.add_routes(_of_events(parts))
    app.router.add_get("/openapi.json", _published)
    app.router.add_get("/schemas/{name}", schema_of)
    return app


def _page(parts: Parts) -> Page:
    return Page(parts.switch, parts.slots, parts.seen.meter, lambda: parts.library.making)


def _seen(by: Instruments) -> list[Middleware]:
    return [timing(by.meter), *([tracing(by.traces)] if by.traces else [])]


def _of_events(parts: Parts) -> list[web.RouteDef]:
    events = EventHandlers(parts.store, parts.slots)
    groups = GroupHandlers(parts.store, parts.slots)

    async def either(request: web.Request) -> web.StreamResponse:
        return await (groups.take if "group" in request.query else events.stream)(request)

    return [
        web.get("/events", either),
        web.get("/events/schema", events.schema),
        *groups.routes(),
    ]


async def _published(_request: web.Request) -> web.Response:
    return answer(schema())


def _only(token: str) -> Middleware:
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if not hmac.compare_digest(given, expected):
            return reply(Problem("Who are you?", 401, "unauthorized", "wrong or no bearer token"))
        return await handler(request)

    return check
