"""The components of the REST service, and how they are opened."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

import api.cdrs.plugin
import api.contacts.lists.plugin
import api.contacts.plugin
import api.dnc.plugin
import api.documents.plugin
import api.engine_client
import api.messaging_platform.client
import api.numbers.plugin
import api.operations.alerts
import api.operations.plugin
import api.recordings.plugin
import api.recordings.service
import api.retention.plugin
import api.routing.plugin
import api.templates.plugin
import api.transcripts.plugin
import api.transcripts.recognizers
import api.voice.plugin
import api.webhooks.service
from api.account_pages.service import AccountPages
from api.accounts.store import AccountStore, EndpointStore
from api.accounts.usage import UsageStore
from api.agents.ended_keys import EndedKeys
from api.agents.phone_login_service import PhoneLoginService
from api.agents.phone_tickets import PhoneTickets
from api.agents.service import AgentService
from api.audit.trail import AuditTrail, EntryRate
from api.auth.key_service import KeyService
from api.auth.key_store import KeyStore
from api.auth.service import Authenticator
from api.auth.sessions import ConsoleSessions
from api.auth.tokens import AccessTokens
from api.callbacks.service import CallbackService
from api.common.account_concurrency import AccountConcurrency, search_slots
from api.common.clock import Clock, now_ms
from api.common.loop_shares import LoopShares
from api.common.token_buckets import Rate, TokenBuckets
from api.config import Settings
from api.contacts.quotas import ContactLimits, ContactQuotas
from api.db.database import Database
from api.db.row_quota import RowQuota
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.documents.cipher import DocumentCipher
from api.documents.editor import DocumentEditor, deletion_limit
from api.http.event_stream import reader_limit
from api.http.health import Readiness
from api.http.idempotency import Idempotency
from api.http.phone_websockets import PbxAddress, PhoneLimits, PhoneWebsockets
from api.http.upload_slots import UploadSlots
from api.jobs.store import JobStore
from api.metrics import Metrics
from api.numbers.service import NumberService
from api.operations.service import OperationsService
from api.policy_sync.sync import PolicySync
from api.recordings.service import UrlSigner
from api.voice.listeners.service import ListenerService
from api.voice.service import VoiceService
from base.tracing import RequestTraces

# What these have done already is whole; an erasure that stopped would leave half a list.
CANCELLABLE = frozenset({"cdr-export", "contact-download", "contact-tags", "contacts-import"})


class Services(Struct, frozen=True):
    """The components of one process; routes find them in `request.state.services`."""

    settings: Settings
    database: Database
    engine: api.engine_client.EngineClient
    accounts: AccountStore
    endpoints: EndpointStore
    keys: KeyStore
    key_service: KeyService
    authenticator: Authenticator
    sessions: ConsoleSessions
    request_rates: TokenBuckets
    requests_in_flight: AccountConcurrency
    loop_shares: LoopShares
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
    phone_logins: PhoneLoginService
    phone_websockets: PhoneWebsockets
    ended_keys: EndedKeys
    callbacks: CallbackService
    policy_sync: PolicySync
    audit: AuditTrail
    templates: api.templates.plugin.TemplateSlice
    transcripts: api.transcripts.plugin.TranscriptSlice
    operations: OperationsService
    alerts: api.operations.alerts.AlertSource
    metrics: Metrics
    traces: RequestTraces | None
    readiness: Readiness
    now_ms: Clock


@asynccontextmanager
async def open_services(
    settings: Settings, clock: Clock = now_ms, traces: RequestTraces | None = None
) -> AsyncIterator[Services]:
    """Open the components for as long as the context lasts."""
    async with AsyncExitStack() as stack:
        database = Database(settings.database_url)
        stack.push_async_callback(database.close)
        urls = [str(url) for url in settings.engine_urls]
        token = settings.rpc_token.get_secret_value()
        engine = await stack.enter_async_context(
            api.engine_client.open_client(urls, token, settings.tls_ca, traces)
        )
        platform = await stack.enter_async_context(
            api.messaging_platform.client.open_client(settings.msgapp)
        )
        alerts_url = None if settings.alerts_url is None else str(settings.alerts_url)
        alerts = await stack.enter_async_context(
            api.operations.alerts.open_alert_source(alerts_url)
        )
        recognizers = await stack.enter_async_context(_open_recognizers(settings))
        accounts = AccountStore(database, clock)
        endpoints = EndpointStore(database, clock)
        keys, jobs = KeyStore(database, clock), JobStore(database, clock, settings.max_jobs)
        quotas = ContactQuotas(database, _contact_limits(settings))
        requests = Rate(settings.api_requests_per_s, settings.api_requests_per_s * 2)
        test_sends = Rate(settings.test_sends_per_min / 60, settings.test_sends_per_min)
        policy_sync = PolicySync(engine, accounts, DncStore(database, clock))
        secrets = _token_secrets(settings)
        metrics = Metrics()
        metrics.dial_policies_refused.set_function(policy_sync.count_refused)
        transcripts = api.transcripts.plugin.build(
            settings, database, engine, accounts, recognizers, metrics, clock
        )
        documents = api.documents.plugin.build(
            database,
            engine,
            secrets,
            clock,
            metrics.document_differences.set,
            max_bytes=settings.max_document_bytes,
        )
        deleted = RowQuota(database, clock, deletion_limit(settings.max_deleted_documents))
        editor = DocumentEditor(
            documents.store, documents.sync.push, settings.max_documents, deleted
        )
        searches = search_slots()
        signer = UrlSigner(secrets, settings.recording_url_s, clock)
        tokens = AccessTokens(secrets, settings.token_s, clock)
        tickets = PhoneTickets(secrets, clock)
        phone_websockets = _phone_websockets(settings, tickets, metrics)
        yield Services(
            settings=settings,
            database=database,
            engine=engine,
            accounts=accounts,
            endpoints=endpoints,
            keys=keys,
            key_service=KeyService(keys, clock, settings.max_keys),
            authenticator=Authenticator(keys, tokens, clock, accepts_keys=settings.keys_as_tokens),
            sessions=ConsoleSessions(secrets, clock),
            request_rates=TokenBuckets(requests, clock),
            requests_in_flight=AccountConcurrency(
                "too_many_requests",
                "requests (SWITCHROOM_API_MAX_REQUESTS_OF_ACCOUNT)",
                of_account=settings.api_max_requests_of_account,
            ),
            loop_shares=LoopShares(settings.api_loop_share),
            upload_slots=UploadSlots(),
            listeners=ListenerService(engine, accounts),
            voice=api.voice.plugin.build(database, engine, accounts, settings.limits, clock),
            idempotency=Idempotency(
                database,
                clock,
                secrets[0],
                DocumentCipher(secrets),
                settings.max_idempotency_keys,
            ),
            jobs=jobs,
            account_pages=AccountPages(
                accounts,
                jobs,
                UsageStore(database, clock),
                _quotas(settings),
                CANCELLABLE,
                has_recognizers=bool(settings.transcript_recognizers),
            ),
            cdrs=api.cdrs.plugin.build(
                database,
                engine,
                accounts,
                jobs,
                quotas,
                secrets,
                signer.sign_url,
                transcripts.store,
                searches,
                clock,
            ),
            numbers=api.numbers.plugin.build(database, engine, clock, settings.max_documents),
            recordings=api.recordings.plugin.build(database, engine, accounts, signer, transcripts),
            webhooks=api.webhooks.service.WebhookLogService(engine, reader_limit()),
            retention=api.retention.plugin.build(
                database, engine, accounts, transcripts.store, clock
            ),
            contacts=api.contacts.plugin.build(
                database, accounts, jobs, settings.mail, quotas, searches, clock
            ),
            lists=api.contacts.lists.plugin.build(database, accounts, jobs, quotas, clock),
            dnc=api.dnc.plugin.build(
                database, accounts, policy_sync, metrics, clock, settings.max_dnc_entries
            ),
            documents=documents,
            routing=api.routing.plugin.build(editor, documents.flows, engine, accounts),
            agents=AgentService(
                replace(editor, store=documents.agents),
                accounts,
                endpoints,
                documents.agents,
                engine,
            ),
            phone_logins=PhoneLoginService(
                editor, documents.agents, keys, engine, settings, tickets, clock
            ),
            phone_websockets=phone_websockets,
            ended_keys=EndedKeys(
                keys,
                documents.agents,
                documents.sync.push,
                phone_websockets.end,
                settings.api_phone_s,
                clock,
            ),
            callbacks=CallbackService(editor, engine, clock),
            policy_sync=policy_sync,
            audit=AuditTrail(
                database,
                clock,
                metrics.audit_failures.inc,
                EntryRate(settings.audit_entries_per_min, clock),
            ),
            templates=api.templates.plugin.build(
                database, platform, test_sends, clock, settings.max_documents
            ),
            transcripts=transcripts,
            operations=api.operations.plugin.build(engine),
            alerts=alerts,
            metrics=metrics,
            traces=traces,
            readiness=Readiness(database, engine),
            now_ms=clock,
        )


def _open_recognizers(
    settings: Settings,
) -> AbstractAsyncContextManager[api.transcripts.recognizers.Recognizers]:
    token = settings.speech_token
    return api.transcripts.recognizers.open_recognizers(
        settings.transcript_recognizers,
        token.get_secret_value() if token is not None else "",
        settings.tls_ca,
    )


def _phone_websockets(
    settings: Settings, tickets: PhoneTickets, metrics: Metrics
) -> PhoneWebsockets:
    nodes = [PbxAddress.parse(url) for url in settings.api_phone_nodes]
    own = settings.api_phone_url
    # of http where its websocket is ws, without the port of the scheme
    origin = str(URL(own.replace("ws", "http", 1)).origin()) if own else ""
    return PhoneWebsockets(
        nodes,
        {*settings.cors_origins, origin} - {""},
        tickets.verify,
        PhoneLimits(settings.api_max_phones, settings.api_max_phones_of_account),
        api.engine_client.verifier(settings.tls_ca),
        metrics,
    )


def _quotas(settings: Settings) -> dict[str, float]:
    names = ("max_keys", "max_jobs", "max_contact_lists", "max_contacts", "max_stored_bytes")
    more = ("max_contact_bytes", "max_documents", "max_document_bytes", "api_requests_per_s")
    return {name: getattr(settings, name) for name in (*names, *more)}


def _token_secrets(settings: Settings) -> list[str]:
    """Return the secret that signs tokens, and then the earlier ones."""
    found = (settings.token_secret, *settings.old_token_secrets)
    return [each.get_secret_value() for each in found]


def _contact_limits(settings: Settings) -> ContactLimits:
    return ContactLimits(
        settings.max_contact_lists,
        settings.max_contacts,
        settings.max_stored_bytes,
        settings.max_contact_bytes,
    )
