"""Whatever fails, whenever things are told: each call's events arrive in order, none is lost."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from itertools import cycle

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as some

from engine.callbacks.messages import Delivered, Failed, Outcome, SignedEvent
from engine.callbacks.retry_schedule import RetrySchedule
from engine.store.memory.store import MemoryStore
from tests.contract.callbacks.bench import SLOT, told
from tests.harness.until import until
from tests.unit.callbacks.dispatchers import SlowOutbox, opened_courier
from wire.callback_targets import DeliveryTarget

CALLS = ("3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb", "3-pbx1-cccccccc")
LONG = 30
PAUSES = some.integers(0, LONG)  # in turns of the loop; the longest outlasts a retry
SCHEDULE = RetrySchedule((0.0, *[0.001] * 200))


class Fickle:
    """A way to a place that fails for each event as often as told, by turns."""

    def __init__(self, fails: list[int], turns: list[int]) -> None:
        self.arrived: dict[str, list[int]] = {call: [] for call in CALLS}
        self._turns = cycle(turns or [1])
        self._fails = fails
        self._left: dict[str, int] = {}

    async def deliver(self, _place: DeliveryTarget, parcel: SignedEvent) -> Outcome:
        """Fail, or keep the number."""
        for _ in range(next(self._turns)):
            await asyncio.sleep(0)
        left = self._left.setdefault(parcel.id, self._fails[len(self._left) % len(self._fails)])
        self._left[parcel.id] = left - 1
        if left > 0:
            return Failed("status_500")
        event = msgspec.json.decode(parcel.body)
        self.arrived[event["callId"]].append(event["sequenceNumber"])
        return Delivered()


@settings(max_examples=25, deadline=None)
@given(
    fails=some.lists(some.integers(0, 3), min_size=1, max_size=8),
    telling=some.lists(
        some.tuples(some.sampled_from(CALLS), some.integers(1, 3), PAUSES), max_size=20
    ),
    is_taken_over=some.booleans(),
    turns=some.lists(some.integers(0, 20), max_size=8),
    carrier_turns=some.lists(some.integers(0, 20), max_size=8),
)
def test_in_order(
    fails: list[int],
    telling: list[tuple[str, int, int]],
    is_taken_over: bool,
    turns: list[int],
    carrier_turns: list[int],
) -> None:
    """First arrivals are in order and complete; a takeover in the middle only repeats some."""
    asyncio.run(_told(fails, telling, is_taken_over, turns, carrier_turns))


async def _told(
    fails: list[int],
    telling: list[tuple[str, int, int]],
    is_taken_over: bool,
    turns: list[int],
    carrier_turns: list[int],
) -> None:
    store, way = MemoryStore(), Fickle(fails, carrier_turns)
    numbers = dict.fromkeys(CALLS, 0)
    async with AsyncExitStack() as stack:
        opened = partial(
            opened_courier,
            stack,
            store,
            way,
            outbox=SlowOutbox(store.outbox, turns),
            schedule=SCHEDULE,
            look_s=0.002,
        )
        courier, token = await opened()
        for place, (call, count, pause) in enumerate(telling):
            if is_taken_over and place == len(telling) // 2:
                await courier.close()
                courier, token = await opened()
            first = numbers[call]
            numbers[call] += count
            change = told(call, *range(first, first + count), account="a", target="grpc://x:1")
            await store.commit(SLOT, token, [change])
            courier.enqueue(SLOT, change)
            for _ in range(pause):
                await asyncio.sleep(0)
            if pause == LONG:
                await asyncio.sleep(0.003)

        def is_done() -> bool:
            return all(len(set(way.arrived[call])) == numbers[call] for call in CALLS)

        await until(is_done, timeout_s=20, what="all to arrive")
    for call in CALLS:
        firsts = list(dict.fromkeys(way.arrived[call]))
        assert firsts == list(range(numbers[call]))
        assert is_taken_over or firsts == way.arrived[call]
