"""The components of the REST service, and how they are opened."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import asdict, replace

import api.documents.plugin
import api.engine_client
import api.messaging_platform.client
import api.operations.alerts
import api.operations.plugin
import api.routing.plugin
import api.voice.plugin
from api.account_pages.service import AccountPages
from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore, EndpointStore
from api.agents.ended_keys import EndedKeys
from api.agents.phone_login_service import PhoneLoginService
from api.agents.phone_tickets import PhoneTickets
from api.agents.service import AgentService
from api.audit.trail import AuditTrail
from api.auth.key_service import KeyService
from api.auth.key_store import KeyStore
from api.auth.service import Authenticator
from api.auth.sessions import ConsoleSessions
from api.auth.tokens import AccessTokens
from api.callbacks.service import CallbackService
from api.cdrs.service import CdrSlice
from api.common.account_concurrency import AccountConcurrency, search_slots
from api.common.clock import Clock, now_ms
from api.common.loop_shares import LoopShares
from api.common.token_buckets import Rate, TokenBuckets
from api.config import Settings
from api.contacts.quotas import ContactQuotas
from api.contacts.slices import ContactSlice, ListSlice
from api.db.database import Database
from api.db.row_quota import RowQuota
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.documents.cipher import DocumentCipher
from api.documents.editor import DocumentEditor, deletion_limit
from api.http.event_stream import reader_limit
from api.http.health import Readiness
from api.http.idempotency import Idempotency
from api.http.phone_websockets import PhoneWebsockets
from api.http.services import CommonServices
from api.http.upload_slots import UploadSlots
from api.jobs.store import JobStore
from api.metrics import Metrics
from api.numbers.service import NumberService
from api.operations.service import OperationsService
from api.policy_sync.sync import PolicySync
from api.recordings.service import RecordingService, UrlSigner
from api.retention.erasure import Erasure
from api.retention.expiry import Expiry
from api.templates.service import TemplateSlice
from api.transcripts.recognizers import open_recognizers
from api.transcripts.worker import TranscriptSlice
from api.voice.listeners.service import ListenerService
from api.voice.service import VoiceService
from api.webhooks.service import WebhookLogService
from base.tracing import RequestTraces

# What these have done already is whole; an erasure that stopped would leave half a list.
CANCELLABLE = frozenset({"cdr-export", "contact-download", "contact-tags", "contacts-import"})


class Services(CommonServices, frozen=True, kw_only=True):
    """The components of one process; routes find them in `request.state.services`."""

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
    account_pages: AccountPages
    cdrs: CdrSlice
    numbers: NumberService
    recordings: RecordingService
    webhooks: WebhookLogService
    expiry: Expiry
    erasure: Erasure
    lists: ListSlice
    contacts: ContactSlice
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
    templates: TemplateSlice
    transcripts: TranscriptSlice
    operations: OperationsService
    alerts: api.operations.alerts.AlertSource
    traces: RequestTraces | None
    readiness: Readiness


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
        recognizers = await stack.enter_async_context(
            open_recognizers(
                settings.transcript_recognizers,
                settings.speech_token.get_secret_value() if settings.speech_token else "",
                settings.tls_ca,
            )
        )
        accounts, metrics = AccountStore(database, clock), Metrics()
        common = CommonServices(
            settings=settings,
            database=database,
            engine=engine,
            accounts=accounts,
            account_cache=AccountCache(accounts, clock),
            jobs=JobStore(database, clock, settings.max_jobs),
            metrics=metrics,
            searches=search_slots(),
            now_ms=clock,
        )
        endpoints, keys = EndpointStore(database, clock), KeyStore(database, clock)
        quotas = ContactQuotas.build(common)
        requests = Rate(settings.api_requests_per_s, settings.api_requests_per_s * 2)
        policy_sync = PolicySync(engine, accounts, DncStore(database, clock))
        metrics.dial_policies_refused.set_function(policy_sync.count_refused)
        secrets = settings.token_secrets
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
        signer = UrlSigner(secrets, settings.recording_url_s, clock)
        tokens = AccessTokens(secrets, settings.token_s, clock)
        tickets = PhoneTickets(secrets, clock)
        cdrs = CdrSlice.build(common, quotas, signer.sign_url)
        phone_websockets = PhoneWebsockets.build(settings, tickets.verify, metrics)
        yield Services(
            **asdict(common),
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
            voice=api.voice.plugin.build(
                database, engine, accounts, settings.limits, cdrs.records.timeline, clock
            ),
            idempotency=Idempotency(
                database,
                clock,
                secrets[0],
                DocumentCipher(secrets),
                settings.max_idempotency_keys,
            ),
            account_pages=AccountPages.build(common, CANCELLABLE),
            cdrs=cdrs,
            numbers=NumberService.build(common),
            recordings=RecordingService.build(common, signer),
            webhooks=WebhookLogService(engine, reader_limit()),
            expiry=Expiry.build(common),
            erasure=Erasure.build(common),
            contacts=ContactSlice.build(common, quotas),
            lists=ListSlice.build(common, quotas),
            dnc=DncService.build(common, policy_sync),
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
            audit=AuditTrail.build(common),
            templates=TemplateSlice.build(common, platform),
            transcripts=TranscriptSlice.build(common, recognizers),
            operations=api.operations.plugin.build(engine),
            alerts=alerts,
            traces=traces,
            readiness=Readiness(database, engine),
        )
