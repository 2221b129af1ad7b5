"""`switchroom api`: creates the account that the settings name, and serves until SIGTERM."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from socket import socket
from typing import TYPE_CHECKING

import uvicorn
from msgspec.structs import replace
from uvicorn.server import ServerState

from api.accounts.store import NEW_ACCOUNT, Account, AccountStore, EndpointStore
from api.app import create_app
from api.auth.key_store import Credentials, KeyStore, KeyTerms, parse_key_id
from api.auth.principal import BUNDLES, SCOPES, unknown_scopes
from api.auth.throttle import network_of
from api.cdrs.event_consumer import EventConsumer, Transcription, consumer_name
from api.common.errors import Conflict, InvalidRequest
from api.config import Settings
from api.db.migrate import migrate
from api.http.connection_limits import ConnectionLimits
from api.http.header_limits import HeaderLimits
from api.http.health import MetricsPage, create_health_app
from api.http.phone_websockets import PhoneWebsocket, PhoneWebsockets
from api.jobs.housekeeping import Monitor, background, clean_up
from api.jobs.worker import Worker
from api.services import open_services
from base.listen import BindFailed
from base.tracing import open_traces

if TYPE_CHECKING:
    from base.otel import OtelRequestTraces

SWITCH_INTERVAL_S = 0.001  # for which a thread that writes an export lets the event loop wait


async def serve(settings: Settings) -> None:
    """Migrate the database, create the configured account, and serve."""
    async with AsyncExitStack() as stack:
        traces = await stack.enter_async_context(open_traces(os.environ, _create_traces))
        services = await stack.enter_async_context(open_services(settings, traces=traces))
        await migrate(services.database)
        await create_configured_account(
            services.accounts, services.keys, services.endpoints, settings
        )
        accounts = services.account_cache
        transcripts = services.transcripts
        consumer = EventConsumer(
            services.engine,
            services.database,
            consumer_name(settings.api_port),
            region_of=accounts.region,
            transcription=Transcription(accounts.has_transcripts, transcripts.queue),
        )
        slices = (services.cdrs.jobs, services.lists.jobs, services.contacts.jobs)
        kinds = frozenset(kind for handlers in slices for kind in handlers)
        for work in (
            # One worker for each slice: none waits for another.
            *(Worker(services.jobs, handlers, services.metrics).run() for handlers in slices),
            *(worker.run() for worker in transcripts.workers),
            Monitor(
                services.database,
                services.metrics,
                kinds,
                services.now_ms,
                (transcripts.measure, services.dnc.measure),
            ).run(),
            consumer.run(),
            services.policy_sync.run(),
            services.documents.sync.run(),
            services.ended_keys.run(),
            services.audit.run(),
            clean_up(services.idempotency.delete_expired),
            clean_up(services.expiry.run_once),
            clean_up(transcripts.queue.expire),
            clean_up(services.lists.deleter.resume_failed),
            clean_up(services.contacts.old_jobs.delete),
        ):
            await stack.enter_async_context(background(work))
        app = create_app(services)
        _relax_garbage_collector()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        page = MetricsPage(services.metrics.registry)
        health = create_health_app(services.readiness, page)
        await _serve_until_signal(
            server(settings, app, services.phone_websockets), health_server(settings, health)
        )


async def create_configured_account(
    accounts: AccountStore, keys: KeyStore, endpoints: EndpointStore, settings: Settings
) -> None:
    """Create what does not exist yet; several processes may start at the same time."""
    if not settings.account or settings.api_key is None or settings.api_secret is None:
        return
    scopes = settings.account_scopes
    if unknown := unknown_scopes(scopes):
        text = f"SWITCHROOM_ACCOUNT_SCOPES: {unknown[0]}: expected"
        raise InvalidRequest(f"{text} {', '.join((*BUNDLES, *SCOPES))}")
    credentials = Credentials(
        settings.api_key.get_secret_value(), settings.api_secret.get_secret_value()
    )
    with suppress(Conflict):  # it exists
        allowed = None if "any" in settings.allow else settings.allow
        terms, name = (
            NEW_ACCOUNT if settings.account_is_limited else Account("", ""),
            settings.account,
        )
        await accounts.add(replace(terms, id=name, name=name, destinations=allowed))
    if await keys.get(parse_key_id(credentials.api_key) or "") is None:
        with suppress(Conflict):  # another process was first
            await keys.add(settings.account, credentials, KeyTerms(scopes=scopes))
    for number in settings.caller_ids:
        await accounts.add_number(settings.account, number)
    for endpoint in settings.account_endpoints:
        await endpoints.grant(settings.account, endpoint)


def _create_traces() -> "OtelRequestTraces":
    from base.otel import (  # noqa: PLC0415 - an optional package
        OtelRequestTraces,
        create_provider,
    )

    return OtelRequestTraces(create_provider("switchroom-api"))


def _relax_garbage_collector() -> None:
    """Collect cycles rarely, and never what is loaded: a pass over it takes a tenth of a second.

    All generations are collected after a million new objects that stay, which is a hundred MB.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 5, 2)


class _Server(uvicorn.Server):
    """A server that says why it cannot listen, where uvicorn ends the process.

    It leaves signals to its caller: uvicorn would raise them again when it has ended, which kills
    the process.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_decided = asyncio.Event()  # whether it listens

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to listen; raises BindFailed."""
        try:
            await super().startup(sockets)
        except SystemExit as error:
            where = f"{self.config.host}:{self.config.port}"
            reason = getattr(error.__context__, "strerror", "") or str(error.__context__)
            raise BindFailed(f"can't listen at {where}: {reason}") from error
        finally:
            self.is_decided.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def _serving(running: _Server) -> AsyncIterator[asyncio.Task[None]]:
    """Serve within the context, and provide the task that serves; raises BindFailed."""
    task = asyncio.create_task(running.serve())
    try:
        await running.is_decided.wait()
        if not running.started:
            await task
        yield task
    finally:
        running.should_exit = True
        await task


def health_server(settings: Settings, app: object) -> _Server:
    """Return the server of health and metrics, at a port that customers do not reach."""
    return _Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]  # an ASGI application
            host=settings.api_metrics_host,
            port=settings.api_metrics_port,
            loop="none",  # it runs already
            http=HeaderLimits,
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
    )


async def _serve_until_signal(customers: _Server, health: _Server) -> None:
    """Serve until a signal, and return, so that everything else is closed in order.

    The health server starts last: what asks it whether the process is ready sends requests of
    customers next.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, setattr, customers, "should_exit", True)
    async with _serving(customers) as task, _serving(health):
        await task


def server(
    settings: Settings,
    app: object,
    phones: PhoneWebsockets,
    protocol: type[HeaderLimits] = HeaderLimits,
) -> _Server:
    """Return the HTTP server of an application, and of phones' websockets."""

    def websocket(server_state: ServerState, **_: object) -> PhoneWebsocket:
        return PhoneWebsocket(phones, server_state)

    limits = ConnectionLimits(
        settings.api_max_connections,
        settings.api_max_connections_of_address,
        settings.api_proxies,
        network_of,
    )
    return _Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]  # an ASGI application
            host=settings.api_host,
            port=settings.api_port,
            loop="none",  # it runs already
            http=partial(protocol, limits=limits),  # type: ignore[arg-type]  # uvicorn only calls it
            ws=websocket,  # type: ignore[arg-type]  # uvicorn only calls it
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            forwarded_allow_ips=list(map(str, settings.api_proxies)),
            timeout_graceful_shutdown=10,
        )
    )
