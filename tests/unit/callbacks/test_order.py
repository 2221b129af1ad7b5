"""Whatever fails and whenever: each call's events arrive in order, or are given up."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from itertools import cycle

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as some

from engine.callbacks.call_delivery import BLOCKING_TRIES
from engine.callbacks.delivery_attempt import RetrySchedule
from engine.callbacks.transport import Delivered, Failed, Outcome, SignedEvent
from tests.harness.callbacks.scene import commit_of
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.until import until
from tests.unit.callbacks.dispatchers import SlowOutbox, open_dispatcher
from wire.callbacks.targets import DeliveryTarget

CALLS = ("3-pbx1-aaaaaaaa", "3-pbx1-bbbbbbbb", "3-pbx1-cccccccc")
LONG = 30
PAUSES = some.integers(0, LONG)  # in turns of the loop; the longest outlasts a retry
SCHEDULE = RetrySchedule((0.0, *[0.001] * 200))


class FlakyTransport:
    """A transport that fails for each event as often as the test chooses."""

    def __init__(self, fails: list[int], turns: list[int]) -> None:
        self.arrived: dict[str, list[int]] = {call: [] for call in CALLS}
        self._turns = cycle(turns or [1])
        self._fails = fails
        self._left: dict[str, int] = {}
        self.failed: set[tuple[str, int]] = set()  # may have been passed over

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Outcome:
        """Fail, or record the number."""
        for _ in range(next(self._turns)):
            await asyncio.sleep(0)
        left = self._left.setdefault(event.id, self._fails[len(self._left) % len(self._fails)])
        self._left[event.id] = left - 1
        fields = msgspec.json.decode(event.body)
        if left > 0:
            self.failed.add((fields["callId"], fields["sequenceNumber"]))
            return Failed("status_500")
        self.arrived[fields["callId"]].append(fields["sequenceNumber"])
        return Delivered()


@settings(max_examples=25, deadline=None)
@given(
    fails=some.lists(some.integers(0, 5), min_size=1, max_size=8),
    emissions=some.lists(
        some.tuples(some.sampled_from(CALLS), some.integers(1, 3), PAUSES), max_size=20
    ),
    is_taken_over=some.booleans(),
    turns=some.lists(some.integers(0, 20), max_size=8),
    transport_turns=some.lists(some.integers(0, 20), max_size=8),
)
def test_in_order(
    fails: list[int],
    emissions: list[tuple[str, int, int]],
    is_taken_over: bool,
    turns: list[int],
    transport_turns: list[int],
) -> None:
    """First arrivals are in order, and complete but for events that fail three times.

    A takeover in the middle repeats some, and may try those again that were passed over when the
    old owner had not yet stored that (decision 0019).
    """
    asyncio.run(_deliver_all(fails, emissions, is_taken_over, turns, transport_turns))


async def _deliver_all(
    fails: list[int],
    emissions: list[tuple[str, int, int]],
    is_taken_over: bool,
    turns: list[int],
    transport_turns: list[int],
) -> None:
    store, transport = MemoryStore(), FlakyTransport(fails, transport_turns)
    outbox = SlowOutbox(store.callback_queue, turns)
    numbers = dict.fromkeys(CALLS, 0)
    async with AsyncExitStack() as stack:
        open_next = partial(
            open_dispatcher,
            stack,
            store,
            transport,
            outbox=outbox,
            schedule=SCHEDULE,
            poll_interval_s=0.002,
        )
        dispatcher, token = await open_next()
        for index, (call, count, pause) in enumerate(emissions):
            if is_taken_over and index == len(emissions) // 2:
                await dispatcher.close()
                dispatcher, token = await open_next()
            first = numbers[call]
            numbers[call] += count
            change = commit_of(call, *range(first, first + count), account="a", target="grpc://x:1")
            await store.commit(SHARD, token, [change])
            dispatcher.enqueue(SHARD, change)
            for _ in range(pause):
                await asyncio.sleep(0)
            if pause == LONG:
                await _wait_for_poll(outbox)

        async def is_done() -> bool:
            pending = await asyncio.gather(
                *(store.callback_queue.pending_events(SHARD, call, 1) for call in CALLS)
            )
            return not any(each.events for each in pending)

        await until(is_done, timeout_s=20, what="all to be settled")
    given_up = await store.callback_queue.dead_letters(SHARD, "a", "", 1_000)
    assert max(fails) >= BLOCKING_TRIES or not given_up
    for call in CALLS:
        firsts = list(dict.fromkeys(transport.arrived[call]))
        dead = {each.seq for each in given_up if each.call_id == call}
        assert sorted({*firsts, *dead}) == list(range(numbers[call]))
        may_be_late = transport.failed if is_taken_over and max(fails) >= BLOCKING_TRIES else set()
        in_order = [each for each in firsts if (call, each) not in may_be_late]
        assert in_order == sorted(in_order)
        assert is_taken_over or firsts == transport.arrived[call]
        assert is_taken_over or not dead.intersection(firsts)


async def _wait_for_poll(outbox: SlowOutbox) -> None:
    before = outbox.polls
    await until(lambda: outbox.polls > before, what="a poll", every_s=0)
