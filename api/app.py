"""The service put together: parts opened, an application made of them, both served."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from api.accounts.store import Accounts
from api.auth import routes as auth
from api.auth.service import Doorkeeper
from api.auth.store import Keys
from api.auth.tokens import Tokens
from api.cdrs import routes as cdrs
from api.cdrs.live import routes
from api.cdrs.plugin import CdrSlice, put_together
from api.common.clock import Clock, now_ms
from api.config import Settings
from api.contacts.contacts import plugin as people_slice
from api.contacts.contacts import routes as people
from api.contacts.contacts.plugin import PeopleSlice
from api.contacts.exports import routes as download_routes
from api.contacts.imports import routes as list_files
from api.contacts.lists import plugin as lists_slice
from api.contacts.lists import routes as lists
from api.contacts.lists.plugin import ListSlice
from api.contacts.tags import routes as tag_routes
from api.db.database import Database
from api.dnc import plugin as dnc_slice
from api.dnc import routes as dnc
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.engine_client import EngineClient
from api.engine_client import opened as engine_opened
from api.http import health
from api.http.body_limit import BodyLimit
from api.http.docs_page import serve_docs
from api.http.errors import answer_problems
from api.http.idempotency import Idempotency
from api.http.openapi import Documented
from api.http.request_middleware import Outside
from api.jobs.store import Jobs
from api.messaging_platform.client import opened as platform_opened
from api.metrics import Metrics
from api.numbers import plugin as numbers_slice
from api.numbers import routes as numbers
from api.numbers.service import NumberService
from api.policy_sync.sync import Pusher
from api.templates import action_routes, webhook_routes
from api.templates import plugin as templates_slice
from api.templates import routes as templates
from api.templates.media import MOST_BYTES as MOST_MEDIA_BYTES
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
MOST_BYTES = {
    action_routes.UPLOAD: MOST_MEDIA_BYTES + FORM_BYTES,
    webhook_routes.PATH: webhook_routes.MOST_BYTES,
}


class Parts(Struct, frozen=True):
    """What the slices share; each reads it off `request.app.state.parts`."""

    settings: Settings
    database: Database
    engine: EngineClient
    accounts: Accounts
    keys: Keys
    doorkeeper: Doorkeeper
    voice: VoiceService
    idempotency: Idempotency
    jobs: Jobs
    cdrs: CdrSlice
    numbers: NumberService
    lists: ListSlice
    people: PeopleSlice
    dnc: DncService
    pusher: Pusher
    templates: TemplateSlice
    metrics: Metrics
    now_ms: Clock


@asynccontextmanager
async def opened(settings: Settings, clock: Clock = now_ms) -> AsyncIterator[Parts]:
    """Open the parts for as long as the context lasts."""
    async with AsyncExitStack() as house:
        database = Database(settings.database_url)
        house.push_async_callback(database.close)
        urls = [str(url) for url in settings.engine_urls]
        token = settings.rpc_token.get_secret_value()
        engine = await house.enter_async_context(engine_opened(urls, token))
        platform = await house.enter_async_context(platform_opened(settings.msgapp))
        accounts = Accounts(database, clock)
        keys, jobs = Keys(database, clock), Jobs(database, clock, settings.max_jobs)
        pusher = Pusher(engine, accounts, DncStore(database, clock))
        secret = settings.token_secret.get_secret_value()
        tokens = Tokens(secret, settings.token_s, clock)
        yield Parts(
            settings=settings,
            database=database,
            engine=engine,
            accounts=accounts,
            keys=keys,
            doorkeeper=Doorkeeper(keys, tokens, clock),
            voice=voice_slice.put_together(database, engine, accounts, settings.limits, clock),
            idempotency=Idempotency(database, clock),
            jobs=jobs,
            cdrs=put_together(database, engine, jobs, secret, clock),
            numbers=numbers_slice.put_together(database, engine, clock),
            people=people_slice.put_together(database, accounts, jobs, settings.mail, clock),
            lists=lists_slice.put_together(database, accounts, jobs, clock),
            dnc=dnc_slice.put_together(database, accounts, pusher, clock),
            pusher=pusher,
            templates=templates_slice.put_together(database, platform, clock),
            metrics=Metrics(),
            now_ms=clock,
        )


def application(parts: Parts) -> ASGIApp:
    """Make the application."""
    app = Documented(
        title="Switchroom",
        version="1.0",
        description="Voice calls, their control, and their records.",
        docs_url=None,  # served below, without a CDN
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # these are our own
    )
    app.state.parts = parts
    answer_problems(app)
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
    limits = MOST_BYTES | dict.fromkeys(
        (list_files.UPLOAD, lists.CHANGE), parts.settings.most_upload_bytes
    )
    return Outside(BodyLimit(app, parts.settings.most_body_bytes, limits), parts.metrics)
