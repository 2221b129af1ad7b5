"""An event that keeps failing delays its call's other events for three attempts only."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec

from engine.callbacks.call_delivery import BLOCKING_TRIES
from engine.callbacks.delivery_attempt import RetrySchedule
from engine.callbacks.dispatcher import CallbackDispatcher
from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent, Transport
from engine.store.callback_queue import CallbackQueue, DeadLetter, Settlement
from tests.harness.callbacks.scene import commit_of
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.until import until
from tests.unit.callbacks.dispatchers import SlowOutbox, open_dispatcher
from wire.callbacks.targets import DeliveryTarget
from wire.shard import ShardId

CALL = "3-pbx1-aaaaaaaa"
HOUR_S = 3_600.0
SCHEDULE = RetrySchedule((0.0, 0.001, 0.001, HOUR_S, HOUR_S))


class RejectingTransport:
    """A customer whose code rejects some events, or raises an internal error of ours for them."""

    def __init__(self, rejected: Collection[int] = ()) -> None:
        self.rejected = set(rejected)
        self.broken: set[int] = set()
        self.reason = "status_500"
        self.gone = False
        self.recovers_at = 0  # the attempt from which on an event is accepted
        self.tries = Counter[int]()
        self.arrived: list[int] = []

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Outcome:
        """Reject, fail or accept an event."""
        number = msgspec.json.decode(event.body)["sequenceNumber"]
        self.tries[number] += 1
        if self.tries[number] == self.recovers_at:
            self.rejected.discard(number)
        if number in self.broken:
            raise RuntimeError("an internal error")
        if number in self.rejected:
            return Failed(self.reason)
        if self.gone:
            return Gone()
        self.arrived.append(number)
        return Delivered()


class HeldOutbox(SlowOutbox):
    """An outbox that, on request, stores a third failure only when the test lets it."""

    is_held = False

    def __init__(self, outbox: CallbackQueue, turns: Sequence[int]) -> None:
        super().__init__(outbox, turns)
        self.is_reached = asyncio.Event()
        self.may_store = asyncio.Event()
        self.tries: list[int] = []  # that were stored

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        """Wait for the test before the third failure of an event is stored."""
        self.tries += [each.tries for each in settlements if each.tries >= 0]
        if self.is_held and any(each.tries == BLOCKING_TRIES for each in settlements):
            self.is_reached.set()
            await self.may_store.wait()
        await super().settle(shard, token, settlements)


class Scene:
    """A dispatcher whose customer rejects events."""

    def __init__(self, transport: Any) -> None:
        self.store = MemoryStore()
        self.transport = transport
        self.outbox = HeldOutbox(self.store.callback_queue, (1, 3, 0, 2))
        self.dispatcher: CallbackDispatcher
        self.token = 0

    async def emit(self, *numbers: int) -> None:
        """Commit events of the call and enqueue them."""
        change = commit_of(CALL, *numbers, account="a", target="grpc://x:1")
        await self.store.commit(SHARD, self.token, [change])
        self.dispatcher.enqueue(SHARD, change)

    async def until_failed(self, times: int) -> None:
        """Wait until so many attempts at the first event are settled."""

        async def has_failed() -> bool:
            return (await self.store.callback_queue.pending_events(SHARD, CALL, 1)).tries >= times

        await until(has_failed, every_s=0.002, what="the attempts")

    async def until_tried(self, number: int) -> None:
        """Wait until the customer has got an event."""
        await until(lambda: self.transport.tries[number] > 0, what="its attempt")

    async def pending(self) -> list[int]:
        """List the events that are not delivered."""
        found = await self.store.callback_queue.pending_events(SHARD, CALL, 100)
        return [seq for seq, _ in found.events]

    async def dead_letters(self) -> list[tuple[int, str]]:
        """List the dead letters: numbers and reasons."""
        found: list[DeadLetter] = await self.store.callback_queue.dead_letters(SHARD, "a", "", 100)
        return [(each.seq, each.reason) for each in found]

    async def until_empty(self) -> None:
        """Wait until nothing is pending."""

        async def is_empty() -> bool:
            return not await self.pending()

        await until(is_empty, every_s=0.002, what="everything to be settled")


@asynccontextmanager
async def open_scene(
    transport: Transport, schedule: RetrySchedule = SCHEDULE
) -> AsyncIterator[Scene]:
    """Run a dispatcher that polls the store all the time."""
    scene = Scene(transport)
    async with AsyncExitStack() as stack:
        scene.dispatcher, scene.token = await open_dispatcher(
            stack,
            scene.store,
            transport,
            outbox=scene.outbox,
            schedule=schedule,
            poll_interval_s=0.002,
        )
        yield scene


async def test_the_others_follow_after_three_attempts() -> None:
    """The event becomes a dead letter as soon as a later one arrives; the order is kept."""
    async with open_scene(RejectingTransport({1})) as at:
        await at.emit(0, 1, 2, 3)
        await at.until_empty()
        assert at.transport.arrived == [0, 2, 3]
        assert at.transport.tries[1] == 3
        assert await at.dead_letters() == [(1, "status_500")]


async def test_an_event_that_arrives_at_its_third_attempt() -> None:
    """It is not given up, and is not sent again; the others follow it."""
    transport = RejectingTransport({0})
    transport.recovers_at = BLOCKING_TRIES
    async with open_scene(transport) as at:
        await at.emit(0, 1)
        await at.until_empty()
        assert transport.arrived == [0, 1]
        assert await at.dead_letters() == []
        assert at.outbox.tries == [1, 2, 0]  # also for the next owner


async def test_events_that_are_emitted_later_need_not_wait() -> None:
    """The end of the call is delivered at once, although the next retry is an hour away."""
    async with open_scene(RejectingTransport({0})) as at:
        await at.emit(0)
        await at.until_failed(3)
        await at.emit(1)
        await at.until_empty()
        assert at.transport.arrived == [1]
        assert await at.dead_letters() == [(0, "status_500")]


async def test_an_event_behind_the_first_failure_waits() -> None:
    """Its own emission is not a retry of the one before it."""
    async with open_scene(RejectingTransport({0}), RetrySchedule((0.0, HOUR_S, HOUR_S))) as at:
        await at.emit(0)
        await at.until_failed(1)
        await at.emit(1)
        polls = at.outbox.polls + 3
        await until(lambda: at.outbox.polls >= polls, what="some polls")
        assert at.transport.tries == {0: 1}
        assert await at.pending() == [0, 1]


async def test_an_event_that_is_emitted_while_the_third_failure_is_stored() -> None:
    """It need not wait either, although it is enqueued before the failure is known."""
    async with open_scene(RejectingTransport({0})) as at:
        at.outbox.is_held = True
        await at.emit(0)
        await at.outbox.is_reached.wait()
        await at.emit(1)
        at.outbox.may_store.set()
        await at.until_empty()
        assert at.transport.arrived == [1]
        assert await at.dead_letters() == [(0, "status_500")]


async def test_several_failing_events_in_a_row() -> None:
    """All of them are given up when an event behind them arrives."""
    async with open_scene(RejectingTransport({0, 1, 2})) as at:
        await at.emit(0, 1, 2, 3, 4)
        await at.until_empty()
        assert at.transport.arrived == [3, 4]
        found = await at.store.callback_queue.dead_letters(SHARD, "a", "", 100)
        assert [(each.seq, each.tries) for each in found] == [(0, 3), (1, 1), (2, 1)]


async def test_nothing_is_given_up_early_while_the_target_is_down() -> None:
    """All events fail, so all wait for the schedule; new events do not shorten it."""
    async with open_scene(RejectingTransport(range(20))) as at:
        await at.emit(0, 1)
        await at.until_failed(3)
        for number in (2, 3, 4):
            await at.emit(number)
            await at.until_tried(number)
        assert await at.pending() == [0, 1, 2, 3, 4]
        assert await at.dead_letters() == []
        assert (await at.store.callback_queue.pending_events(SHARD, CALL, 1)).tries == 3
        at.transport.rejected.clear()
        await at.emit(5)
        await at.until_empty()
        assert at.transport.arrived == [0, 1, 2, 3, 4, 5]


async def test_an_event_during_a_third_failure_shortens_no_schedule() -> None:
    """It is tried at once, and the first event with it, but that is no retry of the schedule."""
    async with open_scene(RejectingTransport(range(20))) as at:
        at.outbox.is_held = True
        await at.emit(0)
        await at.outbox.is_reached.wait()
        await at.emit(1)
        at.outbox.may_store.set()
        await at.until_tried(1)
        await at.emit(2)
        await at.until_tried(2)
        assert (await at.store.callback_queue.pending_events(SHARD, CALL, 1)).tries == 3
        assert at.transport.tries[0] == 5
        assert await at.dead_letters() == []


async def test_a_target_that_hangs_is_tried_once_more_only() -> None:
    """Each attempt may take ten seconds, so a second timeout ends the search."""
    async with open_scene(RejectingTransport(range(20))) as at:
        at.transport.reason = "timeout"
        await at.emit(*range(10))
        await at.until_failed(3)
        assert at.transport.tries == {0: 3, 1: 1}


async def test_the_search_is_limited() -> None:
    """A long queue is not sent to a target that is down."""
    async with open_scene(RejectingTransport(range(20))) as at:
        await at.emit(*range(20))
        await at.until_failed(3)
        assert sorted(at.transport.tries) == list(range(8))


async def test_a_target_that_is_gone() -> None:
    """If it answers 410 to a later event, all events are given up."""
    async with open_scene(RejectingTransport({0})) as at:
        at.transport.gone = True
        await at.emit(0, 1, 2)
        await at.until_empty()
        assert await at.dead_letters() == [(0, "gone"), (1, "gone"), (2, "gone")]


async def test_an_internal_error_counts_as_an_attempt() -> None:
    """An event that a transport cannot encode is retried by the schedule, not for ever."""
    transport = RejectingTransport()
    transport.broken = {0}
    async with open_scene(transport) as at:
        await at.emit(0, 1)
        await at.until_empty()
        assert transport.arrived == [1]
        assert await at.dead_letters() == [(0, "internal")]


class HeldTransport:
    """A customer that never responds; `is_cancelled` says whether its delivery was."""

    def __init__(self) -> None:
        self.is_requested = asyncio.Event()
        self.is_cancelled = False

    async def deliver(self, _target: DeliveryTarget, _event: SignedEvent) -> Outcome:
        """Wait until the delivery is cancelled."""
        self.is_requested.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise
        raise AssertionError


async def test_deliveries_in_flight_end_with_the_engine() -> None:
    """The events stay in the store, for another engine."""
    transport = HeldTransport()
    async with open_scene(transport) as at:
        await at.emit(0)
        await transport.is_requested.wait()
    assert transport.is_cancelled
    assert await at.pending() == [0]
