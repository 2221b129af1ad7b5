"""The service put together: parts opened, an application made of them, both served."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from api.accounts.store import AccountStore
from api.auth import routes as auth
from api.auth.service import Authenticator
from api.auth.store import KeyStore
from api.auth.tokens import AccessTokens
from api.cdrs import routes as cdrs
from api.cdrs.live import routes
from api.cdrs.plugin import CdrSlice, build
from api.common.clock import Clock, now_ms
from api.config import Settings
from api.contacts import plugin as people_slice
from api.contacts.contacts import routes as people
from api.contacts.exports import routes as download_routes
from api.contacts.lists import file_routes as list_files
from api.contacts.lists import plugin as lists_slice
from api.contacts.lists import routes as lists
from api.contacts.lists.plugin import ListSlice
from api.contacts.plugin import ContactSlice
from api.contacts.tags import routes as tag_routes
from api.db.database import Database
from api.dnc import plugin as dnc_slice
from api.dnc import routes as dnc
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.engine_client import EngineClient
from api.engine_client import open_client as engine_opened
from api.http import health
from api.http.body_limit import BodyLimit
from api.http.docs_page import serve_docs
from api.http.idempotency import Idempotency
from api.http.openapi import Application
from api.http.problems import register_error_handlers
from api.http.request_middleware import RequestMiddleware
from api.jobs.store import JobStore
from api.messaging_platform.client import open_client as platform_opened
from api.metrics import Metrics
from api.numbers import plugin as numbers_slice
from api.numbers import routes as numbers
from api.numbers.service import NumberService
from api.policy_sync.sync import PolicySync
from api.templates import action_routes, webhook_routes
from api.templates import plugin as templates_slice
from api.templates import routes as templates
from api.templates.media import MAX_BYTES as MOST_MEDIA_BYTES
from api.templates.plugin import TemplateSlice
from api.voice import plugin as voice_slice
from api.voice import routes as voice
from api.voice.service import VoiceService
from api.voice.sessions import conference_routes, transfer_routes

ROUTERS = (
    auth.router,
    voice.router,
    transfer_routes.router,
    conference_routes.router,
    cdrs.router,
    routes.router,
    numbers.router,
    lists.router,
    list_files.router,
    people.router,
    dnc.router,
    tag_routes.router,
    download_routes.router,
    action_routes.router,
    templates.router,
    webhook_routes.router,
    health.router,
)

FORM_BYTES = 65_536  # what a form has beside its file
MAX_BODY_BYTES = {
    action_routes.UPLOAD: MOST_MEDIA_BYTES + FORM_BYTES,
    webhook_routes.PATH: webhook_routes.MAX_BYTES,
}


class Services(Struct, frozen=True):
    """What the slices share; each reads it off `request.app.state.services`."""

    settings: Settings
    database: Database
    engine: EngineClient
    accounts: AccountStore
    keys: KeyStore
    authenticator: Authenticator
    voice: VoiceService
    idempotency: Idempotency
    jobs: JobStore
    cdrs: CdrSlice
    numbers: NumberService
    lists: ListSlice
    contacts: ContactSlice
    dnc: DncService
    policy_sync: PolicySync
    templates: TemplateSlice
    metrics: Metrics
    now_ms: Clock


@asynccontextmanager
async def open_services(settings: Settings, clock: Clock = now_ms) -> AsyncIterator[Services]:
    """Open the parts for as long as the context lasts."""
    async with AsyncExitStack() as house:
        database = Database(settings.database_url)
        house.push_async_callback(database.close)
        urls = [str(url) for url in settings.engine_urls]
        token = settings.rpc_token.get_secret_value()
        engine = await house.enter_async_context(engine_opened(urls, token))
        platform = await house.enter_async_context(platform_opened(settings.msgapp))
        accounts = AccountStore(database, clock)
        keys, jobs = KeyStore(database, clock), JobStore(database, clock, settings.max_jobs)
        pusher = PolicySync(engine, accounts, DncStore(database, clock))
        secret = settings.token_secret.get_secret_value()
        tokens = AccessTokens(secret, settings.token_s, clock)
        yield Services(
            settings=settings,
            database=database,
            engine=engine,
            accounts=accounts,
            keys=keys,
            authenticator=Authenticator(keys, tokens, clock),
            voice=voice_slice.build(database, engine, accounts, settings.limits, clock),
            idempotency=Idempotency(database, clock),
            jobs=jobs,
            cdrs=build(database, engine, jobs, secret, clock),
            numbers=numbers_slice.build(database, engine, clock),
            contacts=people_slice.build(database, accounts, jobs, settings.mail, clock),
            lists=lists_slice.build(database, accounts, jobs, clock),
            dnc=dnc_slice.build(database, accounts, pusher, clock),
            policy_sync=pusher,
            templates=templates_slice.build(database, platform, clock),
            metrics=Metrics(),
            now_ms=clock,
        )


def create_app(parts: Services) -> ASGIApp:
    """Make the application."""
    app = Application(
        title="Switchroom",
        version="1.0",
        description="Voice calls, their control, and their records.",
        docs_url=None,  # served below, without a CDN
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # these are our own
    )
    app.state.services = parts
    register_error_handlers(app)
    serve_docs(app)
    for router in ROUTERS:
        app.include_router(router)
    if parts.settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=parts.settings.cors_origins,
            allow_methods=["*"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
        )
    limits = MAX_BODY_BYTES | dict.fromkeys(
        (list_files.UPLOAD, lists.CHANGE), parts.settings.most_upload_bytes
    )
    return RequestMiddleware(BodyLimit(app, parts.settings.most_body_bytes, limits), parts.metrics)
