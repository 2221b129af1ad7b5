"""A courier over a store, with a slot of its own: a call's events are committed and delivered."""

import asyncio
import base64
import ipaddress
import os
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import msgspec
from standardwebhooks import Webhook

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
from engine.observe.metrics import Metrics
from engine.runtime.io.api_requests import ApiRequestRunner
from engine.store.change import Change
from engine.store.store import Store
from engine.webhooks.address_guard import AddressGuard, guarded_session
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.signatures import Signer
from tests.contract.store.stores import claimed
from tests.harness.until import until
from wire.callback_targets import ApiRequestTarget, GrpcTarget, HttpsTarget
from wire.callbacks import PutCallback
from wire.events import CallEvent, Kind

SLOT = 3
LOOK_S = 0.05
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
QUICK = RetrySchedule((0.0, 0.05, 0.1))
KINDS: tuple[Kind, ...] = ("initiated", "ringing", "answered", "completed")


class Held:
    """A lease that holds until it is told not to."""

    holds = True

    def __init__(self, token: int) -> None:
        self.token = token


class Posting:
    """One engine's courier."""

    def __init__(
        self, store: Store, *, schedule: RetrySchedule = QUICK, circuit_s: float = 0.3
    ) -> None:
        self.store = store
        self.meter = Metrics()
        self.accounts = CallbackTargets(store.outbox, _now_ms, os.urandom, Signer())
        self.lease = Held(0)
        self.courier: CallbackDispatcher
        self._schedule = schedule
        self._circuit_s = circuit_s

    async def open(
        self,
        house: AsyncExitStack,
        allow: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (LOOPBACK,),
        answer_s: float = 10.0,
        roots: bytes | None = None,
    ) -> None:
        """Open it, and the slot."""
        session = await house.enter_async_context(guarded_session(allow, limit=0))
        by_grpc = GrpcTransport(AddressGuard(allow), answer_s=answer_s, roots=roots)
        house.push_async_callback(by_grpc.close)
        book = ApiRequestRunner(self.store, ApiSender(session, time.time, random.random))
        by_request = ApiRequestTransport(book)
        boxes: dict[int, SlotOutbox] = {}
        delivery = Delivery(
            self.accounts,
            {
                HttpsTarget: HttpTransport(session, answer_s=answer_s),
                GrpcTarget: by_grpc,
                ApiRequestTarget: by_request,
            },
            self._schedule,
            clock=time.time,
            now_ms=_now_ms,
            random=random.random,
            meter=self.meter,
        )
        turns = DeliveryWorker(self.store.outbox, delivery, boxes)
        lanes = TargetQueues(
            turns, partial(CircuitBreaker, open_s=self._circuit_s), time.monotonic, random.random
        )
        self.courier = CallbackDispatcher(
            self.store.outbox, lanes, boxes, self._schedule, self.meter, look_s=LOOK_S
        )
        self.lease = Held(await claimed(self.store, SLOT, "engine"))
        self.courier.open_slot(SLOT, self.lease)
        running = asyncio.create_task(self.courier.run())
        house.push_async_callback(self.courier.close)
        house.callback(running.cancel)

    async def target(self, target: str, account: str = "acme", **more: Any) -> str:
        """Say where an account's calls are told; gives its secret."""
        after, _ = await self.accounts.put(account, PutCallback(target, **more))
        return after.secret

    async def tell(
        self, call: str, *numbers: int, account: str = "acme", target: str = "auto-set", **more: Any
    ) -> None:
        """Commit some of a call's events, and hand them over."""
        change = told(call, *numbers, account=account, target=target, **more)
        await self.store.commit(SLOT, self.lease.token, [change])
        self.courier.enqueue(SLOT, change)

    async def emptied(self, timeout_s: float = 10) -> None:
        """Wait until nothing is due."""

        async def is_empty() -> bool:
            taken = await self.store.outbox.claim_due(SLOT, self.lease.token, 0, 0)
            return taken.pending == 0

        await until(is_empty, timeout_s=timeout_s, what="everything to be settled")


def told(call: str, *numbers: int, account: str, target: str, **more: Any) -> Change:
    """Make the commit of some of a call's events."""
    events = [event(call, number, account, **more) for number in numbers]
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


def event(call: str, number: int, account: str = "acme", kind: Kind = "ringing") -> bytes:
    """Make an event of a call."""
    made = CallEvent(
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
    return msgspec.json.encode(made)


def verified(secret: str, body: bytes, headers: Mapping[str, str]) -> Any:
    """Verify a signature by the reference library; gives what was signed."""
    return Webhook(secret).verify(body, dict(headers))


def secret_of(seed: bytes) -> str:
    """Make a secret."""
    return "whsec_" + base64.b64encode(seed * 32).decode()


@asynccontextmanager
async def posting(store: Store, **more: Any) -> AsyncIterator[Posting]:
    """Run a courier."""
    opening = {key: more.pop(key) for key in ("allow", "answer_s", "roots") if key in more}
    async with AsyncExitStack() as house:
        made = Posting(store, **more)
        await made.open(house, **opening)
        yield made


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
