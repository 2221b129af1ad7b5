"""Builds the parts of an engine from its settings; `engine.py` connects them."""

import os
import random
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial
from importlib.util import find_spec

from msgspec import Struct
from msgspec.structs import replace

from base.address_guard import AddressGuard
from base.lookups import CUSTOMERS_THREADS, Lookups, look_up
from engine.app.account_networks import (
    Sessions,
    TransportByAccount,
    address_guards,
    open_sessions,
)
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.callback_tester import CallbackTester
from engine.callbacks.concurrency_limit import ConcurrencyLimit
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.delivery_scheduler import DeliveryScheduler
from engine.callbacks.dispatcher import CallbackDispatcher
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import ShardQueues
from engine.callbacks.target_queue import CircuitBreaker
from engine.callbacks.transport import Transport, UninstalledTransport
from engine.callbacks.transports.http import ApiRequestTransport, HttpTransport
from engine.callbacks.transports.listener import ListenerTransport
from engine.config import Settings
from engine.listeners import ListenerRegistry
from engine.media.clip import MediaLimits
from engine.media.clip_cache import ClipCache
from engine.media.open import open_clip_cache
from engine.media.tts import Hibari, TtsProvider, find_espeak
from engine.observe.telemetry import Telemetry
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.inbound_routes import DefaultTargetLookup, no_default_target
from engine.runtime.admission.node_selection import NodeSelection
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.base.context import EngineContext
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.attempt_writer import AttemptWriter
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.io.instrumentation import (
    Measured,
    Traced,
)
from engine.runtime.io.webhook_resend import WebhookResend
from engine.runtime.pbx.endpoint_templates import trunk_templates
from engine.runtime.policy.capacity_limits import CapacityLimits, ClusterLoad
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.policy.leg_limits import LegLimits
from engine.runtime.policy.log_quota import LogQuota
from engine.store.redis.document_cipher import DocumentCipher
from engine.store.redis.store import RedisStore
from engine.store.store import Store
from engine.store.stream import StreamLimits
from engine.store.webhook_log import WebhookLogLimits
from engine.webhooks.action_client import ActionClient
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.http_client import ListenerLookup
from engine.webhooks.signatures import SignerLookup
from wire.callbacks.targets import ApiRequestTarget, GrpcTarget, HttpsTarget
from wire.dial_policy import AccountDialPolicy
from wire.shard import ShardId
from wire.tree import Limits


class Assembly(Struct, frozen=True):
    """What the parts of an engine are built from; `stack` closes them."""

    settings: Settings
    stack: AsyncExitStack
    context: EngineContext
    telemetry: Telemetry
    attempts: AttemptWriter
    lookups: Lookups  # of customers' names
    sealer: DigitSealer


def store(settings: Settings) -> RedisStore:
    """Build the connection to Redis; nothing is sent yet."""
    limits = StreamLimits(
        settings.stream_events,
        settings.stream_ceiling,
        settings.stream_kept_s * 1000,
        max(settings.stream_kept_s, settings.kept_s) * 1000,
        settings.stream_mb * 2**20,
    )
    key = settings.store_key.get_secret_value() if settings.store_key else ""
    further = [each.get_secret_value() for each in settings.further_store_keys]
    return RedisStore(
        settings.redis_url,
        retention_s=settings.kept_s,
        stream_limits=limits,
        cipher=DocumentCipher(key, further),
        webhook_log_limits=WebhookLogLimits(
            settings.webhook_log_s * 1000, settings.webhook_log_attempts
        ),
    )


def assembly(
    settings: Settings,
    stack: AsyncExitStack,
    context: EngineContext,
    telemetry: Telemetry,
    sealer: DigitSealer,
) -> Assembly:
    if telemetry.traces is not None:
        context = replace(context, link_call=telemetry.traces.link_call)
    attempts = AttemptWriter(
        context.store.webhook_log, telemetry.metrics.webhook_log, is_on=settings.webhook_log_s > 0
    )
    attempts.start()
    stack.push_async_callback(attempts.close)
    threads = ThreadPoolExecutor(CUSTOMERS_THREADS, "customers-names")
    stack.callback(threads.shutdown, wait=False, cancel_futures=True)  # a name may be slow
    lookups = Lookups(look_up, threads)
    return Assembly(settings, stack, context, telemetry, attempts, lookups, sealer)


async def clip_cache(parts: Assembly) -> ClipCache:
    """Open the audio cache, with the text-to-speech providers that this machine has."""
    settings, limits = parts.settings, MediaLimits(workers=parts.settings.media_workers)
    espeak = await find_espeak()
    hibari = [Hibari(limits)] if find_spec("hibari") else []  # the extra `speech`
    providers: list[TtsProvider] = [*hibari, *([espeak] if espeak else [])]
    # The cache limits downloads.
    sessions = await open_sessions(parts.stack, settings, settings.media_allow, parts.lookups)
    return await parts.stack.enter_async_context(
        open_clip_cache(
            settings.media_dir,
            sessions.of,
            providers,
            now_ms,
            limits,
            meter=parts.context.metrics,
        )
    )


def listener_registry(parts: Assembly, service: CallService) -> ListenerRegistry:
    def number_of(call_id: str) -> str | None:
        found = service.find(call_id)
        return found[1].call.own_number if found else None

    context = parts.context
    return ListenerRegistry(context.store, number_of, now_ms, context.metrics.listeners)


async def io_runner(
    parts: Assembly,
    clips: ClipCache,
    limits: Limits,
    signer_of: SignerLookup,
    listener_of: ListenerLookup,
) -> IoRunner:
    """Build what runs calls' I/O commands; its sessions connect to customers' servers only."""
    store = parts.context.store
    # Each request belongs to a live call, and those are limited.
    settings = parts.settings
    sessions = await open_sessions(parts.stack, settings, settings.webhook_allow, parts.lookups)
    traces = parts.telemetry.traces
    trace = traces.headers if traces else dict[str, str]
    actions = ActionClient(
        sessions.of,
        limits,
        signer_of,
        time.time,
        random.random,
        trace=trace,
        listener_of=listener_of,
        log=parts.attempts,
    )
    measured = Measured(parts.context.metrics)
    runner = IoRunner(
        clips,
        actions,
        FlowCache(store.flow, limits),
        api_requests(parts, sessions, signer_of, trace),
        parts.sealer,
        middlewares=(measured, Traced(traces)) if traces else (measured,),
    )
    parts.stack.push_async_callback(runner.close)
    return runner


def directory(parts: Assembly) -> Directory:
    settings, context = parts.settings, parts.context
    built = Directory(
        context.store,
        context.clock.now_ms,
        AgentTemplate(settings.agent_endpoint, settings.agent_account),
        tuple(trunk_templates(settings.trunk_endpoint, settings.further_trunks).values()),
    )
    parts.stack.push_async_callback(built.close)
    return built


def call_service(
    parts: Assembly,
    directory: Directory,
    cluster: ClusterLoad,
    shards: ShardMap,
    default_target: DefaultTargetLookup = no_default_target,
) -> CallService:
    """Build the engine's calls, without nodes yet."""
    settings = parts.settings
    recordings_url = (settings.recordings_public_url or settings.recordings_url).rstrip("/") + "/"
    admission = AdmissionConfig(
        shards,
        settings.longest_call_s * 1000,
        settings.caller_id,
        recordings_url,
        CapacityLimits(1, settings.trunk_max_calls, settings.trunk_max_calls_per_s),
        settings.max_calls,
        settings.max_calls_per_s,
        1 + len(settings.further_trunks),
    )
    service = CallService(parts.context, admission, directory, cluster, default_target)
    parts.stack.push_async_callback(service.phones.close)
    return service


def dial_policy(
    parts: Assembly,
    is_stopped: Callable[[str], bool],
    node_selection: NodeSelection,
    cluster: ClusterLoad,
    shards: ShardMap,
) -> DialPolicy:
    context = parts.context
    limits = LegLimits(
        context.clock,
        node_selection.legs,
        cluster,
        node_selection.trunk,
        lambda account: context.store.used_ms(account, shards.all),
    )
    policy = DialPolicy(
        context.store.dial_policies,
        context.clock.now_ms,
        parts.settings.caller_id,
        sip_hosts=parts.settings.sip_hosts,
        default=default_policy(parts.settings.default_allow, parts.settings.default_country),
        default_country=parts.settings.default_country,
        is_stopped=is_stopped,
        limits=limits,
        logs=LogQuota(
            cluster, parts.settings.log_mb_of_call * 1_000_000, parts.settings.kept_s * 1_000
        ),
    )
    parts.stack.push_async_callback(policy.close)
    return policy


def default_policy(allowed: tuple[str, ...], country: str) -> AccountDialPolicy | None:
    """Return the policy of accounts that have none; None: they may not call."""
    if not allowed:
        return None
    prefixes = tuple(each for each in allowed if each != "agents")  # whom every policy allows
    return AccountDialPolicy(None if "any" in allowed else prefixes, country=country)


def api_requests(
    parts: Assembly,
    sessions: Sessions,
    signer_of: SignerLookup,
    trace: Callable[[], Mapping[str, str]],
) -> ApiRequestRunner:
    sender = ApiSender(sessions.of, time.time, random.random, trace=trace, log=parts.attempts)
    return ApiRequestRunner(parts.context.store, sender, signer_of)


def now_ms() -> int:
    return int(time.time() * 1000)


Transports = Mapping[type, Transport]


def account_settings(settings: Settings, store: Store) -> AccountSettings:
    key = settings.signing_key
    # Without a key, what this engine has made is in the settings that are stored.
    account_secrets = AccountSecrets(key.get_secret_value().encode() if key else os.urandom(32))
    return AccountSettings(store.callback_queue, now_ms, account_secrets)


async def callback_transports(
    parts: Assembly, targets: AccountSettings, listeners: ListenerRegistry
) -> Transports:
    """Open what delivers to each kind of target."""
    settings = parts.settings
    sessions = await open_sessions(parts.stack, settings, settings.webhook_allow, parts.lookups)
    guards = address_guards(settings, settings.webhook_allow)
    return {
        HttpsTarget: ListenerTransport(
            listeners,
            HttpTransport(sessions.of, log=parts.attempts),
            log=parts.attempts,
        ),
        GrpcTarget: TransportByAccount(guards.map(partial(_grpc_transport, parts))),
        ApiRequestTarget: ApiRequestTransport(
            api_requests(parts, sessions, targets.webhook_signer, dict)
        ),
    }


def callback_tester(targets: AccountSettings, transports: Transports) -> CallbackTester:
    return CallbackTester(targets, transports, time.time, partial(secrets.token_hex, 8))


async def webhook_resend(
    parts: Assembly,
    targets: AccountSettings,
    transports: Transports,
    limits: Limits,
    listener_of: ListenerLookup,
) -> WebhookResend:
    """Build what repeats requests of the webhook log."""
    settings = parts.settings
    sessions = await open_sessions(parts.stack, settings, settings.webhook_allow, parts.lookups)
    return WebhookResend(
        parts.context.store,
        parts.attempts,
        sessions.of,
        transports,
        targets.webhook_signer,
        limits,
        listener_of,
    )


def callback_dispatcher(
    parts: Assembly,
    targets: AccountSettings,
    transports: Transports,
    is_stopped: Callable[[str], bool],
) -> CallbackDispatcher:
    """Build what delivers callbacks; the scheduler limits connections, over all targets too."""
    settings, context = parts.settings, parts.context
    store, metrics = context.store, context.metrics
    schedule = RetrySchedule(settings.callback_retries_s)
    shards: dict[ShardId, ShardQueues] = {}
    delivery = DeliveryAttempt(
        targets,
        transports,
        schedule,
        clock=time.time,
        now_ms=context.clock.now_ms,
        random=random.random,
        metrics=metrics.callbacks,
        is_stopped=is_stopped,
    )
    worker = CallDelivery(store.callback_queue, delivery, shards)
    circuit_breaker = partial(CircuitBreaker, open_s=settings.callback_circuit_s)
    limit = ConcurrencyLimit(settings.callback_max_in_flight)
    queues = DeliveryScheduler(worker, circuit_breaker, time.monotonic, random.random, limit)
    dispatcher = CallbackDispatcher(store.callback_queue, queues, shards, schedule, metrics)
    parts.stack.push_async_callback(dispatcher.close)
    return dispatcher


def _grpc_transport(parts: Assembly, guard: AddressGuard) -> Transport:
    if find_spec("grpc") is None:
        return UninstalledTransport()
    from engine.callbacks.transports.grpc import GrpcTransport  # noqa: PLC0415 - an extra

    transport = GrpcTransport(guard, parts.lookups, log=parts.attempts)
    parts.stack.push_async_callback(transport.close)
    return transport
