"""A callback dispatcher over a store, with its own shard: commits and delivers calls' events."""

import asyncio
import base64
import ipaddress
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from base.address_guard import AddressGuard, guarded_session
from base.lookups import Lookups, look_up
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.concurrency_limit import MAX_IN_FLIGHT, ConcurrencyLimit
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.delivery_scheduler import DeliveryScheduler
from engine.callbacks.dispatcher import CallbackDispatcher
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import ShardQueues
from engine.callbacks.target_queue import CircuitBreaker
from engine.callbacks.transports.grpc import GrpcTransport
from engine.callbacks.transports.http import ApiRequestTransport, HttpTransport
from engine.observe.metrics import Metrics
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.store.change import Change
from engine.store.store import Store
from engine.webhooks.api_sender import ApiSender
from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.executors import InlineExecutor
from tests.harness.recording_log import RecordingLog
from tests.harness.shards import SHARD
from tests.harness.store.stores import claim_shard
from tests.harness.until import MAX_WAIT_S, until
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import ApiRequestTarget, GrpcTarget, HttpsTarget
from wire.events.call_events import CallEvent, Kind
from wire.shard import ShardId

POLL_INTERVAL_S = 0.05
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
FAST_SCHEDULE = RetrySchedule((0.0, 0.05, 0.1))
KINDS: tuple[Kind, ...] = ("initiated", "ringing", "answered", "completed")


class FakeLease:
    """A lease that holds until the test ends it."""

    holds = True
    unseen_ms = 0

    def __init__(self, token: int) -> None:
        self.token = token


class CallbackScene:
    """One engine's callback dispatcher."""

    def __init__(
        self,
        store: Store,
        *,
        schedule: RetrySchedule = FAST_SCHEDULE,
        circuit_s: float = 0.3,
        max_in_flight: int = MAX_IN_FLIGHT,
    ) -> None:
        self.store = store
        self.metrics = Metrics()
        self.log = RecordingLog()
        self.targets = AccountSettings(store.callback_queue, _now_ms, AccountSecrets(b"key"))
        self.settings = SettingsWriter(store, self.targets)
        self.lease = FakeLease(0)
        self.dispatcher: CallbackDispatcher
        self._schedule = schedule
        self._circuit_s = circuit_s
        self._limit = ConcurrencyLimit(max_in_flight)

    async def open(
        self,
        stack: AsyncExitStack,
        allow: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (LOOPBACK,),
        response_timeout_s: float = 10.0,
        roots: bytes | None = None,
    ) -> None:
        """Open the dispatcher and its shard."""
        session = await stack.enter_async_context(guarded_session(allow, limit=0))
        grpc = GrpcTransport(
            AddressGuard(allow),
            Lookups(look_up, InlineExecutor()),
            response_timeout_s=response_timeout_s,
            roots=roots,
            log=self.log,
        )
        stack.push_async_callback(grpc.close)
        sender = ApiSender(lambda _: session, time.time, random.random, log=self.log)
        runner = ApiRequestRunner(self.store, sender, self.targets.webhook_signer)
        api_request = ApiRequestTransport(runner)
        outboxes: dict[ShardId, ShardQueues] = {}
        delivery = DeliveryAttempt(
            self.targets,
            {
                HttpsTarget: HttpTransport(
                    lambda _: session, response_timeout_s=response_timeout_s, log=self.log
                ),
                GrpcTarget: grpc,
                ApiRequestTarget: api_request,
            },
            self._schedule,
            clock=time.time,
            now_ms=_now_ms,
            random=random.random,
            metrics=self.metrics.callbacks,
        )
        worker = CallDelivery(self.store.callback_queue, delivery, outboxes)
        create_circuit = partial(CircuitBreaker, open_s=self._circuit_s)
        queues = DeliveryScheduler(
            worker, create_circuit, time.monotonic, random.random, self._limit
        )
        self.dispatcher = CallbackDispatcher(
            self.store.callback_queue,
            queues,
            outboxes,
            self._schedule,
            self.metrics,
            poll_interval_s=POLL_INTERVAL_S,
        )
        self.lease = FakeLease(await claim_shard(self.store, SHARD, "engine"))
        self.dispatcher.open_shard(SHARD, self.lease)
        running = asyncio.create_task(self.dispatcher.run())
        stack.push_async_callback(self.dispatcher.close)
        stack.callback(running.cancel)

    async def put_target(self, target: str, account: str = "acme", **more: Any) -> str:
        """Set an account's target; returns its secret."""
        return (await self.settings.put(account, PutCallback(target, **more))).secret

    async def emit(
        self, call: str, *numbers: int, account: str = "acme", target: str = "auto-set", **more: Any
    ) -> None:
        """Commit some of a call's events and enqueue them."""
        change = commit_of(call, *numbers, account=account, target=target, **more)
        await self.store.commit(SHARD, self.lease.token, [change])
        self.dispatcher.enqueue(SHARD, change)

    async def until_empty(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until every event is settled."""

        async def is_empty() -> bool:
            batch = await self.store.callback_queue.claim_due(SHARD, self.lease.token, 0, 0)
            return batch.pending == 0

        await until(is_empty, timeout_s=timeout_s, what="everything to be settled")


def commit_of(call: str, *numbers: int, account: str, target: str, **more: Any) -> Change:
    """Return a commit with some of a call's events."""
    events = [encoded_event(call, number, account, **more) for number in numbers]
    return Change(
        call,
        "pbx1",
        b"state",
        numbers[0],
        tuple(b"entry" for _ in numbers),
        tuple(events),
        delivery_key=f"{account} {target}",
        callbacks=tuple(events),
        first_seq=numbers[0],
        live=more.get("kind") != "completed",
    )


def encoded_event(call: str, number: int, account: str = "acme", kind: Kind = "ringing") -> bytes:
    """Return an event of a call."""
    event = CallEvent(
        id=f"{call}.e{number}",
        event=kind,
        sequence_number=number,
        timestamp=_now_ms(),
        call_id=call,
        account_id=account,
        call_status="ringing",
        direction="outbound",
        from_="+4721930000",
        to="+4722222222",
        agent_id="sales7",
        reference_id="ref1",
        custom_data={"order": 4711},
    )
    return msgspec.json.encode(event)


def secret_of(seed: bytes) -> str:
    """Return a secret."""
    return "whsec_" + base64.b64encode(seed * 32).decode()


@asynccontextmanager
async def open_scene(store: Store, **more: Any) -> AsyncIterator[CallbackScene]:
    """Run a dispatcher."""
    options = {
        key: more.pop(key) for key in ("allow", "response_timeout_s", "roots") if key in more
    }
    async with AsyncExitStack() as stack:
        scene = CallbackScene(store, **more)
        await scene.open(stack, **options)
        yield scene


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
