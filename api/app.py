"""The REST service: opens its components, and builds the ASGI application that serves them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

import api.account_pages.routes
import api.agents.routes
import api.audit.routes
import api.auth.key_routes
import api.auth.routes
import api.callbacks.routes
import api.cdrs.live.routes
import api.cdrs.plugin
import api.cdrs.routes
import api.contacts.contacts.routes
import api.contacts.exports.routes
import api.contacts.lists.file_routes
import api.contacts.lists.plugin
import api.contacts.lists.routes
import api.contacts.plugin
import api.contacts.tags.routes
import api.dnc.plugin
import api.dnc.routes
import api.documents.plugin
import api.engine_client
import api.messaging_platform.client
import api.numbers.plugin
import api.numbers.routes
import api.recordings.plugin
import api.recordings.routes
import api.recordings.service
import api.retention.plugin
import api.routing.flow_routes
import api.routing.number_routes
import api.routing.plugin
import api.routing.request_routes
import api.templates.action_routes
import api.templates.media
import api.templates.plugin
import api.templates.routes
import api.templates.webhook_routes
import api.voice.listeners.routes
import api.voice.plugin
import api.voice.routes
import api.voice.sessions.conference_routes
import api.voice.sessions.transfer_routes
import api.webhooks.routes
import api.webhooks.service
from api.account_pages.service import AccountPages
from api.accounts.store import AccountStore
from api.accounts.usage import UsageStore
from api.agents.service import AgentService
from api.audit.requests import RequestAudit
from api.audit.trail import AuditTrail
from api.auth.key_service import KeyService
from api.auth.service import Authenticator
from api.auth.store import KeyStore
from api.auth.tokens import AccessTokens
from api.callbacks.service import CallbackService
from api.common.clock import Clock, now_ms
from api.common.requests_in_flight import RequestsInFlight
from api.common.token_buckets import Rate, TokenBuckets
from api.config import Settings
from api.contacts.quotas import ContactLimits, ContactQuotas
from api.db.database import Database
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.documents.editor import DocumentEditor
from api.http import health
from api.http.body_limit import BodyLimit
from api.http.docs_page import serve_docs
from api.http.event_stream import ReaderLimit
from api.http.idempotency import Idempotency
from api.http.openapi import Application
from api.http.problems import register_error_handlers
from api.http.readiness import Readiness
from api.http.request_middleware import RequestMiddleware
from api.http.upload_slots import UploadSlots
from api.jobs.store import JobStore
from api.metrics import Metrics
from api.numbers.service import NumberService
from api.policy_sync.sync import PolicySync
from api.recordings.signed_urls import UrlSigner
from api.voice.listeners.service import ListenerService
from api.voice.service import VoiceService

ROUTES = (
    api.auth.routes.routes,
    api.auth.key_routes.routes,
    api.account_pages.routes.routes,
    api.voice.routes.routes,
    api.voice.sessions.transfer_routes.routes,
    api.voice.sessions.conference_routes.routes,
    api.voice.listeners.routes.routes,
    api.routing.number_routes.routes,
    api.routing.flow_routes.routes,
    api.routing.request_routes.routes,
    api.agents.routes.routes,
    api.callbacks.routes.routes,
    api.cdrs.routes.routes,
    api.cdrs.live.routes.routes,
    api.recordings.routes.routes,
    api.webhooks.routes.routes,
    api.audit.routes.routes,
    api.numbers.routes.routes,
    api.contacts.lists.routes.routes,
    api.contacts.lists.file_routes.routes,
    api.contacts.contacts.routes.routes,
    api.dnc.routes.routes,
    api.contacts.tags.routes.routes,
    api.contacts.exports.routes.routes,
    api.templates.action_routes.routes,
    api.templates.routes.routes,
    api.templates.webhook_routes.routes,
)

# What these have done already is whole; an erasure that stopped would leave half a list.
CANCELLABLE = frozenset({"cdr-export", "contact-download", "contact-tags", "contacts-import"})
FORM_BYTES = 65_536  # of a form, beside its file
MAX_BODY_BYTES = {
    api.templates.action_routes.UPLOAD: api.templates.media.MAX_BYTES + FORM_BYTES,
    api.templates.webhook_routes.PATH: api.templates.webhook_routes.MAX_BYTES,
}


class Services(Struct, frozen=True):
    """The components of one process; routes find them in `request.app.state.services`."""

    settings: Settings
    database: Database
    engine: api.engine_client.EngineClient
    accounts: AccountStore
    keys: KeyStore
    key_service: KeyService
    authenticator: Authenticator
    request_rates: TokenBuckets
    requests_in_flight: RequestsInFlight
    upload_slots: UploadSlots
    voice: VoiceService
    listeners: ListenerService
    idempotency: Idempotency
    jobs: JobStore
    account_pages: AccountPages
    cdrs: api.cdrs.plugin.CdrSlice
    numbers: NumberService
    recordings: api.recordings.service.RecordingService
    webhooks: api.webhooks.service.WebhookLogService
    retention: api.retention.plugin.RetentionSlice
    lists: api.contacts.lists.plugin.ListSlice
    contacts: api.contacts.plugin.ContactSlice
    dnc: DncService
    documents: api.documents.plugin.DocumentSlice
    routing: api.routing.plugin.RoutingSlice
    agents: AgentService
    callbacks: CallbackService
    policy_sync: PolicySync
    audit: AuditTrail
    templates: api.templates.plugin.TemplateSlice
    metrics: Metrics
    readiness: Readiness
    now_ms: Clock


@asynccontextmanager
async def open_services(settings: Settings, clock: Clock = now_ms) -> AsyncIterator[Services]:
    """Open the components for as long as the context lasts."""
    async with AsyncExitStack() as stack:
        database = Database(settings.database_url)
        stack.push_async_callback(database.close)
        urls = [str(url) for url in settings.engine_urls]
        token = settings.rpc_token.get_secret_value()
        engine = await stack.enter_async_context(
            api.engine_client.open_client(urls, token, settings.tls_ca)
        )
        platform = await stack.enter_async_context(
            api.messaging_platform.client.open_client(settings.msgapp)
        )
        accounts = AccountStore(database, clock)
        keys, jobs = KeyStore(database, clock), JobStore(database, clock, settings.max_jobs)
        quotas = ContactQuotas(database, _contact_limits(settings))
        requests = Rate(settings.api_requests_per_s, settings.api_requests_per_s * 2)
        test_sends = Rate(settings.test_sends_per_min / 60, settings.test_sends_per_min)
        policy_sync = PolicySync(engine, accounts, DncStore(database, clock))
        secrets = _token_secrets(settings)
        metrics = Metrics()
        documents = api.documents.plugin.build(
            database, engine, secrets, clock, metrics.document_differences.set
        )
        editor = DocumentEditor(documents.store, documents.sync.push, settings.max_documents)
        signer = UrlSigner(secrets, settings.recording_url_s, clock)
        tokens = AccessTokens(secrets, settings.token_s, clock)
        yield Services(
            settings=settings,
            database=database,
            engine=engine,
            accounts=accounts,
            keys=keys,
            key_service=KeyService(keys, clock, settings.max_keys),
            authenticator=Authenticator(keys, tokens, clock, accepts_keys=settings.keys_as_tokens),
            request_rates=TokenBuckets(requests, clock),
            requests_in_flight=RequestsInFlight(settings.api_max_requests_of_account),
            upload_slots=UploadSlots(),
            listeners=ListenerService(engine, accounts),
            voice=api.voice.plugin.build(database, engine, accounts, settings.limits, clock),
            idempotency=Idempotency(database, clock, secrets[0]),
            jobs=jobs,
            account_pages=AccountPages(
                accounts, jobs, UsageStore(database, clock), _quotas(settings), CANCELLABLE
            ),
            cdrs=api.cdrs.plugin.build(
                database, engine, accounts, jobs, quotas, secrets[0], signer.sign_url, clock
            ),
            numbers=api.numbers.plugin.build(database, engine, clock),
            recordings=api.recordings.plugin.build(database, engine, signer),
            webhooks=api.webhooks.service.WebhookLogService(engine, ReaderLimit()),
            retention=api.retention.plugin.build(database, engine, accounts, clock),
            contacts=api.contacts.plugin.build(
                database, accounts, jobs, settings.mail, quotas, clock
            ),
            lists=api.contacts.lists.plugin.build(database, accounts, jobs, quotas, clock),
            dnc=api.dnc.plugin.build(database, accounts, policy_sync.notify, clock),
            documents=documents,
            routing=api.routing.plugin.build(editor, documents.flows, engine, accounts),
            agents=AgentService(editor, engine),
            callbacks=CallbackService(editor, engine, clock),
            policy_sync=policy_sync,
            audit=AuditTrail(database, clock, metrics.audit_failures.inc),
            templates=api.templates.plugin.build(database, platform, test_sends, clock),
            metrics=metrics,
            readiness=Readiness(database, engine),
            now_ms=clock,
        )


def _quotas(settings: Settings) -> dict[str, float]:
    names = ("max_keys", "max_jobs", "max_contact_lists", "max_contacts", "max_stored_bytes")
    more = ("max_documents", "api_requests_per_s")
    return {name: getattr(settings, name) for name in (*names, *more)}


def _token_secrets(settings: Settings) -> list[str]:
    """Return the secret that signs tokens, and then the earlier ones."""
    found = (settings.token_secret, *settings.old_token_secrets)
    return [each.get_secret_value() for each in found]


def _contact_limits(settings: Settings) -> ContactLimits:
    return ContactLimits(
        settings.max_contact_lists, settings.max_contacts, settings.max_stored_bytes
    )


def create_app(services: Services) -> ASGIApp:
    """Build the application, with its middleware."""
    settings, app = services.settings, create_routes(services)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["*"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "If-Match",
                "If-None-Match",
                "X-Request-Id",
            ],
            expose_headers=["ETag", "X-Request-Id"],
        )
    uploads = (api.contacts.lists.file_routes.UPLOAD, api.contacts.lists.routes.CHANGE)
    limits = MAX_BODY_BYTES | dict.fromkeys(uploads, settings.max_upload_bytes)
    return RequestMiddleware(
        BodyLimit(app, settings.max_body_bytes, limits),
        services.metrics,
        RequestAudit(services.audit),
        services.requests_in_flight,
    )


def create_routes(services: Services) -> Application:
    """Build the routes."""
    settings = services.settings
    app = Application(
        title="Switchroom",
        version="1.0",
        description="Voice calls, their control, and their records.",
        openapi_url="/openapi.json" if settings.api_docs else None,
        docs_url=None,  # served below, without a CDN
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # these are our own
    )
    app.state.services = services
    register_error_handlers(app)
    if settings.api_docs:
        serve_docs(app)
    for routes in ROUTES:
        app.router.routes.extend(routes.router.routes)  # an included router matches paths twice
    if settings.api_metrics_port is None:
        app.router.routes.extend(health.router.routes)
    return app
