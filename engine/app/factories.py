"""The parts of an engine, each built from the settings; `app` puts them together."""

import ipaddress
import os
import random
import time
from contextlib import AsyncExitStack
from functools import partial

import aiohttp
import structlog

from engine.callbacks.circuit_breaker import CircuitBreaker
from engine.callbacks.delivery import Delivery
from engine.callbacks.dispatcher import CallbackDispatcher
from engine.callbacks.retry_schedule import RetrySchedule
from engine.callbacks.slot_outbox import SlotOutbox
from engine.callbacks.target_queues import TargetQueues
from engine.callbacks.targets import CallbackTargets
from engine.callbacks.transports.api_request import ApiRequestTransport
from engine.callbacks.transports.grpc import GrpcTransport
from engine.callbacks.transports.http import HttpTransport
from engine.callbacks.worker import DeliveryWorker
from engine.config import Settings
from engine.media.clip import MediaLimits
from engine.media.clip_cache import ClipCache
from engine.media.open import open_clip_cache
from engine.media.tts.espeak import find_espeak
from engine.media.tts.hibari import Hibari
from engine.media.tts.provider import TtsProvider
from engine.observe.telemetry import Telemetry
from engine.runtime.admission.limits import CapacityLimits, RateLimiter
from engine.runtime.admission.routes import DefaultTargetLookup, no_default_target
from engine.runtime.admission.settings import CallSettings
from engine.runtime.agents.directory import Directory
from engine.runtime.agents.status import AgentStatus
from engine.runtime.base.clock import Clock
from engine.runtime.cluster.membership import Membership
from engine.runtime.io.api_requests import ApiRequestRunner
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.io.instrumentation import MeteredActionClient, MeteredApiRequests
from engine.runtime.io.runner import ActionSource as AskerPort
from engine.runtime.io.runner import IoRunner
from engine.runtime.pbx.traced import TracedActionClient
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.service import CallService
from engine.store.redis.store import RedisStore
from engine.store.store import Store
from engine.store.stream import StreamLimits
from engine.webhooks.action_client import ActionClient
from engine.webhooks.address_guard import AddressGuard, guarded_session
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.signatures import Signer
from wire.callback_targets import ApiRequestTarget, GrpcTarget, HttpsTarget
from wire.tree import Limits

log = structlog.get_logger()
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def store(settings: Settings) -> RedisStore:
    """Build the way to Redis; nothing is asked of it yet."""
    bounds = StreamLimits(settings.stream_events, settings.stream_ceiling)
    return RedisStore(settings.redis_url, kept_s=settings.kept_s, bounds=bounds)


async def library(settings: Settings, house: AsyncExitStack, seen: Telemetry) -> ClipCache:
    """Open the audio library, with the voices that this machine has."""
    limits = MediaLimits()
    espeak = await find_espeak()
    speakers: list[TtsProvider] = [Hibari(limits), *([espeak] if espeak else [])]
    session = await house.enter_async_context(guarded_session(_networks(settings.media_allow)))
    return await house.enter_async_context(
        open_clip_cache(settings.media_dir, session, speakers, _now_ms, limits, meter=seen.metrics)
    )


async def io_runner(  # noqa: PLR0913, PLR0917 - the parts that an engine is put together from
    settings: Settings,
    house: AsyncExitStack,
    audio: ClipCache,
    store: Store,
    limits: Limits,
    seen: Telemetry,
) -> IoRunner:
    """Build what runs calls' errands; its session asks customers' servers and nobody else."""
    signer = _signer(settings)
    # No limit of ours: each question belongs to a live call, and those are limited.
    session = await house.enter_async_context(
        guarded_session(_networks(settings.webhook_allow), limit=0, limit_per_host=0)
    )
    trace = seen.traces.headers if seen.traces else dict[str, str]
    apis = ApiRequestRunner(store, ApiSender(session, time.time, random.random, trace=trace))
    running = IoRunner(
        audio,
        _asker(session, limits, signer, seen),
        FlowCache(store, limits),
        MeteredApiRequests(apis, seen.metrics),
    )
    house.push_async_callback(running.close)
    return running


def callback_targets(settings: Settings, store: Store) -> CallbackTargets:
    """Build what knows where accounts' callbacks go."""
    return CallbackTargets(store.outbox, _now_ms, os.urandom, _signer(settings))


async def callback_dispatcher(  # noqa: PLR0913, PLR0917 - the parts that an engine is put together from
    settings: Settings,
    house: AsyncExitStack,
    store: Store,
    known: CallbackTargets,
    clock: Clock,
    seen: Telemetry,
) -> CallbackDispatcher:
    """Build what brings to customers what calls tell; each target's lane is its own limit."""
    allowed = _networks(settings.webhook_allow)
    session = await house.enter_async_context(guarded_session(allowed, limit=0, limit_per_host=0))
    by_grpc = GrpcTransport(AddressGuard(allowed))
    house.push_async_callback(by_grpc.close)
    schedule = RetrySchedule(settings.callback_retries_s)
    apis = ApiRequestRunner(store, ApiSender(session, time.time, random.random))
    boxes: dict[int, SlotOutbox] = {}
    delivery = Delivery(
        known,
        {
            HttpsTarget: HttpTransport(session),
            GrpcTarget: by_grpc,
            ApiRequestTarget: ApiRequestTransport(apis),
        },
        schedule,
        clock=time.time,
        now_ms=clock.now_ms,
        random=random.random,
        meter=seen.metrics,
    )
    turns = DeliveryWorker(store.outbox, delivery, boxes)
    circuit = partial(CircuitBreaker, open_s=settings.callback_circuit_s)
    lanes = TargetQueues(turns, circuit, time.monotonic, random.random)
    running = CallbackDispatcher(store.outbox, lanes, boxes, schedule, seen.metrics)
    house.push_async_callback(running.close)
    return running


def _signer(settings: Settings) -> Signer:
    secret = settings.webhook_secret
    return Signer(*([secret.get_secret_value()] if secret else []))


def _asker(
    session: aiohttp.ClientSession, limits: Limits, signer: Signer, seen: Telemetry
) -> AskerPort:
    traces = seen.traces
    trace = traces.headers if traces else dict[str, str]
    asker = ActionClient(session, limits, signer, time.time, random.random, trace=trace)
    metered = MeteredActionClient(asker, seen.metrics)
    return TracedActionClient(metered, traces) if traces else metered


def _networks(allowed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(each) for each in allowed)


def _now_ms() -> int:
    return int(time.time() * 1000)


def roster(  # noqa: PLR0913, PLR0917 - the parts that an engine is put together from
    settings: Settings,
    house: AsyncExitStack,
    store: Store,
    clock: Clock,
    peers: Membership,
    seen: Telemetry,
    told: DefaultTargetLookup = no_default_target,
) -> AgentStatus:
    """Build the directory of agents and the switch, without nodes yet."""
    directory = Directory(store, clock.now_ms, settings.agent_endpoint, settings.trunk_endpoint)
    house.push_async_callback(directory.close)
    told_as = (settings.recordings_public_url or settings.recordings_url).rstrip("/") + "/"
    longest_ms = settings.longest_call_s * 1000
    trunk = CapacityLimits(1, settings.trunk_max_calls, settings.trunk_max_calls_per_s)
    rules = CallSettings(settings.slots, longest_ms, settings.caller_id, told_as, trunk)
    gate = RateLimiter(clock, settings.max_calls_per_s, settings.max_calls)
    switch = CallService(
        store,
        clock,
        gate,
        rules,
        directory=directory,
        others=peers,
        meter=seen.metrics,
        told=told,
    )
    if seen.traces is not None:
        switch.follow = seen.traces.link_call
    return AgentStatus(directory, switch)


def dial_policy(
    settings: Settings, house: AsyncExitStack, store: Store, clock: Clock
) -> DialPolicy:
    """Build what knows what accounts may dial."""
    book = DialPolicy(store.dial_policies, clock.now_ms, settings.caller_id)
    house.push_async_callback(book.close)
    return book
