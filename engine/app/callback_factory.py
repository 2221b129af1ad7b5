"""Builds what delivers callbacks, and the settings of accounts that say where to."""

import os
import random
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec

from base.address_guard import AddressGuard
from engine.app.account_networks import TransportByAccount, address_guards, open_sessions
from engine.app.factories import Assembly, api_requests, now_ms
from engine.callbacks.account_secrets import AccountSecrets
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.callback_tester import CallbackTester
from engine.callbacks.concurrency_limit import ConcurrencyLimit
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.delivery_scheduler import DeliveryScheduler
from engine.callbacks.dispatcher import CallbackDispatcher
from engine.callbacks.shard_queues import ShardQueues
from engine.callbacks.target_queue import CircuitBreaker
from engine.callbacks.transport import Transport, UninstalledTransport
from engine.callbacks.transports.http import ApiRequestTransport, HttpTransport
from engine.callbacks.transports.listener import ListenerTransport
from engine.config import Settings
from engine.listeners import ListenerRegistry
from engine.runtime.io.webhook_retry import WebhookRetry
from engine.store.store import Store
from engine.webhooks.http_client import ListenerLookup
from wire.callbacks.targets import ApiRequestTarget, GrpcTarget, HttpsTarget
from wire.shard import ShardId
from wire.tree import Limits

Transports = Mapping[type, Transport]


def account_settings(settings: Settings, store: Store) -> AccountSettings:
    key = settings.signing_key
    account_secrets = AccountSecrets(key.get_secret_value().encode() if key else None, os.urandom)
    return AccountSettings(store.outbox, now_ms, account_secrets)


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
            TransportByAccount(sessions.map(partial(HttpTransport, log=parts.attempts))),
            log=parts.attempts,
        ),
        GrpcTarget: TransportByAccount(guards.map(partial(_grpc_transport, parts))),
        ApiRequestTarget: ApiRequestTransport(
            api_requests(parts, sessions, targets.webhook_signer, dict)
        ),
    }


def callback_tester(targets: AccountSettings, transports: Transports) -> CallbackTester:
    return CallbackTester(targets, transports, time.time, partial(secrets.token_hex, 8))


async def webhook_retry(
    parts: Assembly,
    targets: AccountSettings,
    transports: Transports,
    limits: Limits,
    listener_of: ListenerLookup,
) -> WebhookRetry:
    """Build what repeats requests of the webhook log."""
    settings = parts.settings
    sessions = await open_sessions(parts.stack, settings, settings.webhook_allow, parts.lookups)
    return WebhookRetry(
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
    outboxes: dict[ShardId, ShardQueues] = {}
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
    worker = CallDelivery(store.outbox, delivery, outboxes)
    circuit_breaker = partial(CircuitBreaker, open_s=settings.callback_circuit_s)
    limit = ConcurrencyLimit(settings.callback_max_in_flight)
    queues = DeliveryScheduler(worker, circuit_breaker, time.monotonic, random.random, limit)
    dispatcher = CallbackDispatcher(store.outbox, queues, outboxes, schedule, metrics)
    parts.stack.push_async_callback(dispatcher.close)
    return dispatcher


def _grpc_transport(parts: Assembly, guard: AddressGuard) -> Transport:
    if find_spec("grpc") is None:
        return UninstalledTransport()
    from engine.callbacks.transports.grpc import GrpcTransport  # noqa: PLC0415 - an extra

    transport = GrpcTransport(guard, parts.lookups, log=parts.attempts)
    parts.stack.push_async_callback(transport.close)
    return transport
