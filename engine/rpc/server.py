"""The engine's HTTP server: RPC behind a token, media for PBX nodes, health and metrics."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from inspect import signature

from aiohttp import web
from aiohttp.typedefs import Middleware
from msgspec import Struct, field

from base.listen import listening
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.callback_tester import CallbackTester
from engine.media.clip_cache import ClipCache
from engine.observe.telemetry import Telemetry
from engine.recordings import Archive
from engine.rpc import operations, schemas
from engine.rpc.access import RpcAccess, authentication
from engine.rpc.error_pages import error_page_routes
from engine.rpc.flow_checks import FlowChecks
from engine.rpc.handlers.agents import AgentHandlers
from engine.rpc.handlers.audit import AuditHandlers
from engine.rpc.handlers.callbacks import CallbackHandlers
from engine.rpc.handlers.calls import CallHandlers
from engine.rpc.handlers.cluster.doctor import DoctorHandlers, DoctorRuns
from engine.rpc.handlers.cluster.engines import EngineHandlers
from engine.rpc.handlers.cluster.report import ClusterPlace, EngineReport
from engine.rpc.handlers.cluster.store import StoreHandlers
from engine.rpc.handlers.conferences import ConferenceHandlers
from engine.rpc.handlers.consumer_groups import ConsumerGroupHandlers
from engine.rpc.handlers.control import ControlHandlers
from engine.rpc.handlers.dead_letters import DeadLetterHandlers
from engine.rpc.handlers.dial_policy import DialPolicyHandlers
from engine.rpc.handlers.document_checks import DocumentChecks
from engine.rpc.handlers.documents import DocumentHandlers
from engine.rpc.handlers.ended_calls import EndedCallHandlers
from engine.rpc.handlers.erasure import ErasureHandlers
from engine.rpc.handlers.events import EventHandlers
from engine.rpc.handlers.listeners import ListenerHandlers
from engine.rpc.handlers.nodes import NodeHandlers
from engine.rpc.handlers.peers import PeerHandlers
from engine.rpc.handlers.recording_files import RecordingFileHandlers
from engine.rpc.handlers.recordings import RecordingHandlers
from engine.rpc.handlers.slots import SlotHandlers
from engine.rpc.handlers.streams import StreamHandlers
from engine.rpc.handlers.transfers import TransferHandlers
from engine.rpc.handlers.webhook_log import WebhookLogHandlers
from engine.rpc.health import health_routes
from engine.rpc.json_body import MAX_BODY_BYTES, json_response, read_body
from engine.rpc.media import media_routes
from engine.rpc.metrics import MetricsPage, metrics_routes
from engine.rpc.middleware.concurrency_limit import concurrency_limit
from engine.rpc.middleware.forwarding import forwarding
from engine.rpc.middleware.measurement import costs, timing, tracing
from engine.rpc.operation import Operation
from engine.rpc.peers.client import PeerClient, ShardDirectory, open_peer_client
from engine.rpc.peers.fan_out import FanOut
from engine.rpc.peers.prompts import PromptErasure, RemoteClips
from engine.rpc.problems import Handler, problem_middleware
from engine.rpc.views.timelines import TimelineTurns
from engine.runtime.agents.agent_documents import AgentDocuments
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.phone_credentials import CredentialStore
from engine.runtime.agents.phone_passwords import PhonePasswords
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.io.webhook_resend import WebhookResend
from engine.runtime.policy.dial_policy import DialPolicy
from engine.store.store import Store
from wire.tree import Limits

_EVENT_STREAMS = "/rpc/v1/events"


class ServerDependencies(Struct, frozen=True):
    """The parts of an engine that the server exposes."""

    service: CallService
    store: Store
    clip_cache: ClipCache
    limits: Limits
    shards: ShardMap
    agent_presence: AgentPresence
    shard_directory: ShardDirectory
    account_settings: AccountSettings
    dial_policy: DialPolicy
    callback_tester: CallbackTester
    webhook_resend: WebhookResend
    telemetry: Telemetry = field(default_factory=Telemetry)
    max_requests: int = 1_000  # concurrent
    trunks: tuple[str, ...] = ("trunk",)  # that accounts may choose from
    archive: Archive | None = None  # of recordings; None: nothing is recorded
    cluster: ClusterPlace = ClusterPlace()
    doctor: DoctorRuns = field(default_factory=DoctorRuns)
    # Of a connection without a complete head; longer than the 15 s for which clients keep one.
    idle_timeout_s: float = 20.0


@asynccontextmanager
async def serving(
    deps: ServerDependencies, access: RpcAccess, host: str, port: int
) -> AsyncIterator[None]:
    """Serve for as long as the context lasts; raises BindFailed."""
    async with (
        open_peer_client(deps.shard_directory, access) as peers,
        listening(_app_runner(deps, access, peers), host, port, access.server_tls),
    ):
        yield


def _app_runner(deps: ServerDependencies, access: RpcAccess, peers: PeerClient) -> web.AppRunner:
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.add_subapp("/rpc/v1", rpc_app(deps, access, peers))
    app.add_routes(media_routes(deps.clip_cache, RemoteClips(peers)))
    app.add_routes(health_routes(deps.service, deps.store, deps.shard_directory))
    app.add_routes(metrics_routes(_metrics_page(deps)))
    app.add_routes(error_page_routes())
    # Streaming handlers end with the server, not after it.
    return web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a compressed body is rejected, not decompressed
        handler_cancellation=True,
        keepalive_timeout=deps.idle_timeout_s,
        shutdown_timeout=0.5,
    )


def rpc_app(deps: ServerDependencies, access: RpcAccess, peers: PeerClient) -> web.Application:
    """Build the application that answers under /rpc/v1."""
    app = web.Application(
        middlewares=[
            *_instrumentation(deps.telemetry),
            costs(),
            problem_middleware,
            authentication(access, deps.telemetry.metrics.external.rpc_denied),
            concurrency_limit(deps.max_requests, streams=_EVENT_STREAMS),
            forwarding(peers),
        ]
    )
    app.add_routes(_routes(deps, peers, DigitSealer(access.tokens, os.urandom)))
    app.router.add_get("/openapi.json", schemas.openapi)
    return app


def _routes(
    deps: ServerDependencies, peers: PeerClient, sealer: DigitSealer
) -> Iterator[web.RouteDef]:
    fan_out, prompts = FanOut(peers), PromptErasure(deps.clip_cache, peers)
    service, store, limits, shards = deps.service, deps.store, deps.limits, deps.shards
    policy, targets, tester = deps.dial_policy, deps.account_settings, deps.callback_tester
    agents, timelines = deps.agent_presence, TimelineTurns()
    groups = ConsumerGroupHandlers(store, shards)
    documents = AgentDocuments(store, agents.directory)
    passwords = PhonePasswords(
        CredentialStore(store), lambda: {name: each.pbx for name, each in service.nodes.items()}
    )
    served: tuple[tuple[Iterable[Operation], object], ...] = (
        (operations.AUDIT, AuditHandlers(store, shards, timelines)),
        (
            operations.CALLS,
            CallHandlers(service, store, limits, fan_out, policy, timelines, agents),
        ),
        (operations.CONTROL, ControlHandlers(service, limits, policy, agents)),
        (operations.RECORDING, RecordingHandlers(service)),
        (operations.STREAMS, StreamHandlers(service, limits)),
        (operations.RECORDING_FILES, RecordingFileHandlers(deps.archive)),
        (operations.TRANSFERS, TransferHandlers(service, limits, policy, agents)),
        (operations.CONFERENCES, ConferenceHandlers(service, limits, fan_out, policy, agents)),
        (operations.AGENTS, AgentHandlers(store, agents, fan_out, documents, passwords, policy)),
        (operations.DOCUMENT_CHECKS, DocumentChecks(store, limits, FlowChecks(), policy)),
        (operations.EVENTS, EventHandlers(store, shards, groups)),
        (operations.ENDED_CALLS, EndedCallHandlers(store, shards)),
        (operations.CONSUMER_GROUPS, groups),
        (operations.CALLBACKS, CallbackHandlers(store, targets, limits, tester)),
        (operations.LISTENERS, ListenerHandlers(store, service)),
        (operations.DEAD_LETTERS, DeadLetterHandlers(store.callback_queue, targets, shards)),
        (operations.WEBHOOK_LOG, WebhookLogHandlers(store.webhook_log, deps.webhook_resend)),
        (operations.DIAL_POLICIES, DialPolicyHandlers(store.dial_policies, policy, deps.trunks)),
        (operations.DOCUMENTS, DocumentHandlers(store, documents)),
        (operations.SCHEMAS, schemas),
        (operations.ERASURE, ErasureHandlers(store, shards, prompts.erase)),
        (operations.NODES, NodeHandlers(service, fan_out)),
        (operations.SLOTS, SlotHandlers(store, shards)),
        (operations.ENGINES, EngineHandlers(_engine_report(deps), deps.cluster, shards, fan_out)),
        (operations.STORE, StoreHandlers(store, shards)),
        (operations.DOCTOR, DoctorHandlers(deps.doctor)),
        (operations.PEERS, PeerHandlers(service, sealer, prompts)),
    )
    for group, handlers in served:
        for each in group:
            add = getattr(web, each.method)
            yield add(each.path, _json_handler(each, getattr(handlers, each.handler)))


def _json_handler(operation: Operation, handle: Callable[..., Awaitable[object]]) -> Handler:
    """Decode the body for a handler with a second parameter; encode what it returns."""
    takes_body = len(signature(handle).parameters) > 1

    async def respond(request: web.Request) -> web.StreamResponse:
        body = [await read_body(request, operation.request)] if takes_body else []
        result = await handle(request, *body)
        if isinstance(result, web.StreamResponse):
            return result
        return json_response({} if result is None else result, operation.status)

    return respond


def _metrics_page(deps: ServerDependencies) -> MetricsPage:
    return MetricsPage(
        deps.service, deps.shards, deps.telemetry.metrics, lambda: deps.clip_cache.pending
    )


def _engine_report(deps: ServerDependencies) -> EngineReport:
    return EngineReport(
        deps.service, deps.shard_directory, deps.clip_cache, deps.telemetry.metrics, deps.cluster
    )


def _instrumentation(telemetry: Telemetry) -> list[Middleware]:
    return [timing(telemetry.metrics), *([tracing(telemetry.traces)] if telemetry.traces else [])]
