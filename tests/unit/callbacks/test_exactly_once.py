"""A call's events are delivered once, in order, however late the store settles them."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import msgspec

from engine.callbacks.messages import Delivered, SignedEvent
from engine.callbacks.retry_schedule import RetrySchedule
from engine.store.memory.store import MemoryStore
from engine.store.outbox import Outbox, Settlement
from tests.contract.callbacks.bench import SLOT, told
from tests.unit.callbacks.dispatchers import SlowOutbox, opened_courier
from wire.callback_targets import DeliveryTarget

CALL = "3-pbx1-aaaaaaaa"


class GatedOutbox(SlowOutbox):
    """An outbox that settles when the test lets it."""

    def __init__(self, outbox: Outbox) -> None:
        super().__init__(outbox, ())
        self.gates: list[asyncio.Event] = []

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """Wait for the gate of this settlement."""
        gate = asyncio.Event()
        self.gates.append(gate)
        await gate.wait()
        await super().settle(slot, token, settlements)


class GatedCarrier:
    """A carrier that keeps the numbers it is given, and delivers some only when let."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.gates: dict[int, asyncio.Event] = {}

    async def deliver(self, _place: DeliveryTarget, parcel: SignedEvent) -> Delivered:
        """Keep the number, and deliver once its gate is open."""
        number = msgspec.json.decode(parcel.body)["sequenceNumber"]
        self.numbers.append(number)
        if number in self.gates:
            await self.gates[number].wait()
        return Delivered()


async def test_once() -> None:
    """A settlement that is stored while a later event is on its way repeats nothing."""
    store, carrier = MemoryStore(), GatedCarrier()
    outbox = GatedOutbox(store.outbox)
    async with AsyncExitStack() as stack:
        courier, token = await opened_courier(
            stack, store, carrier, outbox=outbox, schedule=RetrySchedule(), look_s=60
        )

        async def emit(number: int) -> None:
            change = told(CALL, number, account="a", target="grpc://x:1")
            await store.commit(SLOT, token, [change])
            courier.enqueue(SLOT, change)
            await _settle_down()

        await emit(0)  # delivered; its settlement is on its way
        await emit(1)  # delivered; its settlement waits behind the first
        assert carrier.numbers == [0, 1]
        outbox.gates[0].set()
        await _settle_down()
        carrier.gates[2] = asyncio.Event()
        await emit(2)  # its delivery is on its way
        outbox.gates[1].set()
        await _settle_down()
        await emit(3)
        assert carrier.numbers == [0, 1, 2]  # one after another
        carrier.gates[2].set()
        await _settle_down()
        for gate in outbox.gates:
            gate.set()
        await _settle_down()
        assert carrier.numbers == [0, 1, 2, 3]


async def _settle_down() -> None:
    """Let everything run that waits for nothing but the loop."""
    for _ in range(50):
        await asyncio.sleep(0)
