"""The engine's HTTP server: RPC behind a token, media for PBX nodes, health and metrics."""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Middleware
from msgspec import Struct, field

from engine.callbacks.targets import CallbackTargets
from engine.media.clip_cache import ClipCache
from engine.media.serve import media_routes
from engine.observe.telemetry import Telemetry
from engine.rpc.handlers.agents import AgentHandlers
from engine.rpc.handlers.api_requests import ApiRequestHandlers
from engine.rpc.handlers.audit import AuditHandlers
from engine.rpc.handlers.callbacks import CallbackHandlers
from engine.rpc.handlers.calls import CallHandlers
from engine.rpc.handlers.conferences import ConferenceHandlers
from engine.rpc.handlers.consumer_groups import ConsumerGroupHandlers
from engine.rpc.handlers.control import ControlHandlers
from engine.rpc.handlers.dead_letters import DeadLetterHandlers
from engine.rpc.handlers.dial_policy import DialPolicyHandlers
from engine.rpc.handlers.events import EventHandlers
from engine.rpc.handlers.flows import FlowHandlers
from engine.rpc.handlers.nodes import NodeHandlers
from engine.rpc.handlers.number_routes import NumberRouteHandlers
from engine.rpc.handlers.recordings import RecordingHandlers
from engine.rpc.handlers.transfers import TransferHandlers
from engine.rpc.health import health_routes
from engine.rpc.json_body import MAX_BODY_BYTES, json_response
from engine.rpc.metrics.page import MetricsPage, metrics_routes
from engine.rpc.middleware.concurrency_limit import concurrency_limit
from engine.rpc.middleware.forwarding import forwarding
from engine.rpc.middleware.timing import timing
from engine.rpc.middleware.tracing import tracing
from engine.rpc.peers.client import PeerClient, SlotDirectory, open_peer_client
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.problems import Handler, problem_middleware, problem_response
from engine.rpc.schemas import openapi_document, published_schema
from engine.runtime.agents.status import AgentStatus
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from engine.store.store import Store
from wire.rpc import Problem
from wire.tree import Limits


class BindFailed(Exception):
    """The server can't listen where it is to."""


class ServerDependencies(Struct, frozen=True):
    """What the server shows of an engine."""

    service: CallService
    store: Store
    clip_cache: ClipCache
    limits: Limits
    slots: int
    agent_status: AgentStatus
    slot_directory: SlotDirectory
    callback_targets: CallbackTargets
    dial_policy: DialPolicy
    telemetry: Telemetry = field(default_factory=Telemetry)
    max_requests: int = 1_000  # at once


@asynccontextmanager
async def serving(
    parts: ServerDependencies, token: str, host: str, port: int
) -> AsyncIterator[None]:
    """Serve for as long as the context lasts; raises NotServed."""
    async with (
        open_peer_client(parts.slot_directory, token) as hop,
        _served(parts, token, hop) as runner,
    ):
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise BindFailed(f"can't listen at {host}:{port}: {error.strerror}") from error
        yield


@asynccontextmanager
async def _served(
    parts: ServerDependencies, token: str, hop: PeerClient
) -> AsyncIterator[web.AppRunner]:
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.add_subapp("/rpc/v1", rpc_app(parts, token, hop))
    app.add_routes(media_routes(parts.clip_cache))
    app.add_routes(health_routes(parts.service, parts.store, parts.slot_directory))
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


def rpc_app(parts: ServerDependencies, token: str, hop: PeerClient) -> web.Application:
    """Build the application that answers under /rpc/v1."""
    crowd = concurrency_limit(parts.max_requests, streams="/rpc/v1/events")
    guards = (problem_middleware, _only(token), crowd, forwarding(hop))
    app = web.Application(middlewares=[*_seen(parts.telemetry), *guards])
    everyone = FanOut(hop)
    app.add_routes(AuditHandlers(parts.store, parts.slots).routes())
    calls = CallHandlers(
        parts.service,
        parts.store,
        parts.limits,
        everyone,
        parts.callback_targets,
        parts.dial_policy,
    )
    app.add_routes(calls.routes())
    app.add_routes(ControlHandlers(parts.service, parts.limits, parts.dial_policy).routes())
    app.add_routes(RecordingHandlers(parts.service).routes())
    app.add_routes(TransferHandlers(parts.service, parts.limits, parts.dial_policy).routes())
    conferences = ConferenceHandlers(parts.service, parts.limits, everyone, parts.dial_policy)
    app.add_routes(conferences.routes())
    app.add_routes(AgentHandlers(parts.store, parts.agent_status, everyone).routes())
    app.add_routes(NumberRouteHandlers(parts.store, parts.limits).routes())
    callbacks = CallbackHandlers(parts.store, parts.callback_targets, parts.limits)
    app.add_routes(callbacks.routes())
    letters = DeadLetterHandlers(parts.store.outbox, parts.callback_targets, parts.slots)
    app.add_routes(letters.routes())
    app.add_routes(FlowHandlers(parts.store, parts.limits).routes())
    app.add_routes(ApiRequestHandlers(parts.store, parts.limits).routes())
    app.add_routes(DialPolicyHandlers(parts.store.dial_policies, parts.dial_policy).routes())
    app.add_routes(NodeHandlers(parts.service).routes())
    app.add_routes(_of_events(parts))
    app.router.add_get("/openapi.json", _published)
    app.router.add_get("/schemas/{name}", published_schema)
    return app


def _page(parts: ServerDependencies) -> MetricsPage:
    return MetricsPage(
        parts.service, parts.slots, parts.telemetry.metrics, lambda: parts.clip_cache.making
    )


def _seen(by: Telemetry) -> list[Middleware]:
    return [timing(by.metrics), *([tracing(by.traces)] if by.traces else [])]


def _of_events(parts: ServerDependencies) -> list[web.RouteDef]:
    events = EventHandlers(parts.store, parts.slots)
    groups = ConsumerGroupHandlers(parts.store, parts.slots)

    async def either(request: web.Request) -> web.StreamResponse:
        return await (groups.take if "group" in request.query else events.stream)(request)

    return [
        web.get("/events", either),
        web.get("/events/schema", events.schema),
        *groups.routes(),
    ]


async def _published(_request: web.Request) -> web.Response:
    return json_response(openapi_document())


def _only(token: str) -> Middleware:
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if not hmac.compare_digest(given, expected):
            return problem_response(
                Problem("Who are you?", 401, "unauthorized", "wrong or no bearer token")
            )
        return await handler(request)

    return check
