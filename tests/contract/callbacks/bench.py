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

from engine.callbacks.circuit_breaker import Circuit
from engine.callbacks.delivery import Delivery
from engine.callbacks.dispatcher import Courier
from engine.callbacks.retry_schedule import Schedule
from engine.callbacks.slot_outbox import Box
from engine.callbacks.target_queues import Lanes
from engine.callbacks.targets import Accounts
from engine.callbacks.transports.api_request import ApiWay
from engine.callbacks.transports.grpc import GrpcWay
from engine.callbacks.transports.http import HttpWay
from engine.callbacks.worker import Turns
from engine.observe.metrics import Meter
from engine.runtime.io.api_requests import ApiRequestRunner
from engine.store.change import Change
from engine.store.store import Store
from engine.webhooks.address_guard import Guard, guarded_session
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.signatures import Signer
from tests.contract.store.stores import claimed
from tests.harness.until import until
from wire.callback_targets import ApiRequest, Grpc, Https
from wire.callbacks import PutCallback
from wire.events import CallEvent, Kind

SLOT = 3
LOOK_S = 0.05
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
QUICK = Schedule((0.0, 0.05, 0.1))
KINDS: tuple[Kind, ...] = ("initiated", "ringing", "answered", "completed")


class Held:
    """A lease that holds until it is told not to."""

    holds = True

    def __init__(self, token: int) -> None:
        self.token = token


class Posting:
    """One engine's courier."""

    def __init__(self, store: Store, *, schedule: Schedule = QUICK, circuit_s: float = 0.3) -> None:
        self.store = store
        self.meter = Meter()
        self.accounts = Accounts(store.outbox, _now_ms, os.urandom, Signer())
        self.lease = Held(0)
        self.courier: Courier
        self._schedule = schedule
        self._circuit_s = circuit_s

    async def open(
        self,
        house: AsyncExitStack,
        allow: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (LOOPBACK,),
        answer_s: float = 1.0,
        roots: bytes | None = None,
    ) -> None:
        """Open it, and the slot."""
        session = await house.enter_async_context(guarded_session(allow, limit=0))
        by_grpc = GrpcWay(Guard(allow), answer_s=answer_s, roots=roots)
        house.push_async_callback(by_grpc.close)
        book = ApiRequestRunner(self.store, ApiSender(session, time.time, random.random))
        by_request = ApiWay(book)
        boxes: dict[int, Box] = {}
        delivery = Delivery(
            self.accounts,
            {Https: HttpWay(session, answer_s=answer_s), Grpc: by_grpc, ApiRequest: by_request},
            self._schedule,
            clock=time.time,
            now_ms=_now_ms,
            random=random.random,
            meter=self.meter,
        )
        turns = Turns(self.store.outbox, delivery, boxes)
        lanes = Lanes(
            turns, partial(Circuit, open_s=self._circuit_s), time.monotonic, random.random
        )
        self.courier = Courier(
            self.store.outbox, lanes, boxes, self._schedule, self.meter, look_s=LOOK_S
        )
        self.lease = Held(await claimed(self.store, SLOT, "engine"))
        self.courier.open(SLOT, self.lease)
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
        self.courier.take(SLOT, change)

    async def emptied(self, timeout_s: float = 10) -> None:
        """Wait until nothing is due."""

        async def is_empty() -> bool:
            taken = await self.store.outbox.take(SLOT, self.lease.token, 0, 0)
            return taken.waiting == 0

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
        way=f"{account} {target}",
        due=tuple(events),
        first_due=numbers[0],
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
