"""A call's events are delivered once, in order, however late the store settles them."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import msgspec

from engine.callbacks.delivery_attempt import RetrySchedule
from engine.callbacks.transport import Delivered, SignedEvent
from engine.store.callback_queue import CallbackQueue, Settlement
from tests.harness.callbacks.scene import commit_of
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.unit.callbacks.dispatchers import SlowOutbox, open_dispatcher
from wire.callbacks.targets import DeliveryTarget
from wire.shard import ShardId

CALL = "3-pbx1-aaaaaaaa"


class GatedOutbox(SlowOutbox):
    """An outbox that settles when the test opens a gate."""

    def __init__(self, outbox: CallbackQueue) -> None:
        super().__init__(outbox, ())
        self.gates: list[asyncio.Event] = []

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        """Wait for the gate of this settlement."""
        gate = asyncio.Event()
        self.gates.append(gate)
        await gate.wait()
        await super().settle(shard, token, settlements)


class GatedTransport:
    """A transport that records event numbers and delivers some only when their gate opens."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.gates: dict[int, asyncio.Event] = {}

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Delivered:
        """Record the number, and deliver once its gate is open."""
        number = msgspec.json.decode(event.body)["sequenceNumber"]
        self.numbers.append(number)
        if number in self.gates:
            await self.gates[number].wait()
        return Delivered()


async def test_a_late_settlement_repeats_no_delivery() -> None:
    """A settlement may be stored while a later event is being delivered."""
    store, transport = MemoryStore(), GatedTransport()
    outbox = GatedOutbox(store.callback_queue)
    async with AsyncExitStack() as stack:
        dispatcher, token = await open_dispatcher(
            stack, store, transport, outbox=outbox, schedule=RetrySchedule(), poll_interval_s=60
        )

        async def emit(number: int) -> None:
            change = commit_of(CALL, number, account="a", target="grpc://x:1")
            await store.commit(SHARD, token, [change])
            dispatcher.enqueue(SHARD, change)
            await _settle_down()

        await emit(0)  # delivered; its settlement is in flight
        await emit(1)  # delivered; its settlement waits behind the first
        assert transport.numbers == [0, 1]
        outbox.gates[0].set()
        await _settle_down()
        transport.gates[2] = asyncio.Event()
        await emit(2)  # its delivery is in flight
        outbox.gates[1].set()
        await _settle_down()
        await emit(3)
        assert transport.numbers == [0, 1, 2]  # one after another
        transport.gates[2].set()
        await _settle_down()
        for gate in outbox.gates:
            gate.set()
        await _settle_down()
        assert transport.numbers == [0, 1, 2, 3]


async def _settle_down() -> None:
    """Run every task that waits only for the loop."""
    for _ in range(50):
        await asyncio.sleep(0)
