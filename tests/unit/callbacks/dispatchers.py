"""A courier over the memory store, whose outbox takes its time as a network would."""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from engine.callbacks.circuit_breaker import Circuit
from engine.callbacks.delivery import Delivery
from engine.callbacks.dispatcher import Courier
from engine.callbacks.messages import Carrier
from engine.callbacks.retry_schedule import Schedule
from engine.callbacks.slot_outbox import Box
from engine.callbacks.target_queues import Lanes
from engine.callbacks.targets import Accounts
from engine.callbacks.worker import Turns
from engine.observe.metrics import Meter
from engine.store.memory.store import Memory
from engine.store.outbox import Letter, Outbox, Settlement, Taken, Waiting
from engine.webhooks.signatures import Signer
from tests.contract.callbacks.bench import SLOT, Held
from tests.contract.store.stores import claimed
from wire.callback_targets import Grpc


class SlowOutbox:
    """An outbox whose requests and answers each take so many turns of the loop, in rotation."""

    def __init__(self, outbox: Outbox, turns: Sequence[int]) -> None:
        self._outbox = outbox
        self._turns = turns or (0,)
        self._count = 0

    async def take(self, slot: int, token: int, ahead_ms: int, limit: int) -> Taken:
        """See Outbox."""
        await self._pass_time()
        taken = await self._outbox.take(slot, token, ahead_ms, limit)
        await self._pass_time()
        return taken

    async def waiting(self, slot: int, call_id: str, limit: int) -> Waiting:
        """See Outbox."""
        await self._pass_time()
        found = await self._outbox.waiting(slot, call_id, limit)
        await self._pass_time()
        return found

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """See Outbox."""
        await self._pass_time()
        await self._outbox.settle(slot, token, settlements)
        await self._pass_time()

    async def dead(self, slot: int, account: str, after: str, limit: int) -> list[Letter]:
        """See Outbox."""
        return await self._outbox.dead(slot, account, after, limit)

    async def resend(self, slot: int, account: str, entries: Sequence[str], limit: int) -> int:
        """See Outbox."""
        return await self._outbox.resend(slot, account, entries, limit)

    async def swap_account(self, account: str, before: bytes | None, after: bytes | None) -> bool:
        """See Outbox."""
        return await self._outbox.swap_account(account, before, after)

    async def account(self, account: str) -> bytes | None:
        """See Outbox."""
        return await self._outbox.account(account)

    async def _pass_time(self) -> None:
        self._count += 1
        for _ in range(self._turns[self._count % len(self._turns)]):
            await asyncio.sleep(0)


async def opened_courier(  # noqa: PLR0913 - what a story decides
    stack: AsyncExitStack,
    store: Memory,
    carrier: Carrier,
    *,
    outbox: Outbox,
    schedule: Schedule,
    look_s: float,
) -> tuple[Courier, int]:
    """Run a courier for the slot, until the stack is closed; return it and the slot's token."""
    boxes = dict[int, Box]()
    meter = Meter()
    accounts = Accounts(store.outbox, lambda: 0, random.randbytes, Signer())
    delivery = Delivery(
        accounts,
        {Grpc: carrier},
        schedule,
        clock=time.time,
        now_ms=lambda: 0,
        random=random.random,
        meter=meter,
    )
    turns = Turns(outbox, delivery, boxes)
    lanes = Lanes(turns, partial(Circuit, most=1_000), time.monotonic, lambda: 0.0)
    courier = Courier(outbox, lanes, boxes, schedule, meter, look_s=look_s)
    token = await claimed(store, SLOT, "me")
    courier.open(SLOT, Held(token))
    running = asyncio.create_task(courier.run())
    stack.push_async_callback(courier.close)
    stack.callback(running.cancel)
    return courier, token
