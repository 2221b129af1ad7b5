"""The dispatcher: what it claims from the store, shards that close, and what its log says."""

from contextlib import AsyncExitStack

from structlog.testing import capture_logs

from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.delivery_attempt import RetrySchedule
from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.target_queue import MAX_FAILURES, OPEN_S, CircuitBreaker, TargetQueue
from engine.callbacks.transport import Delivered, Failed, Outcome, SignedEvent
from engine.observe.metrics import Metrics
from tests.harness.callbacks.scene import commit_of
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.until import until
from tests.unit.callbacks.dispatchers import SlowOutbox, create_attempt, open_dispatcher
from wire.callbacks.targets import DeliveryTarget

CALL = "3-pbx1-aaaaaaaa"
RETRY_AFTER_S = 60.0
SCHEDULE = RetrySchedule((0.0, 1.0))


class BusyTransport:
    """A customer who asks at the first attempt to wait for a minute."""

    def __init__(self) -> None:
        self.attempts = 0

    async def deliver(self, _target: DeliveryTarget, _event: SignedEvent) -> Outcome:
        """Fail once, then accept."""
        self.attempts += 1
        return Failed("status_503", RETRY_AFTER_S) if self.attempts == 1 else Delivered()


class Scene:
    """A dispatcher that polls a store whose clock the test sets."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.store = MemoryStore(lambda: self.now_ms)
        self.outbox = SlowOutbox(self.store.callback_queue, ())
        self.transport = BusyTransport()

    async def open(self, stack: AsyncExitStack) -> None:
        """Run the dispatcher, and let the first attempt at an event fail."""
        dispatcher, token = await open_dispatcher(
            stack,
            self.store,
            self.transport,
            outbox=self.outbox,
            schedule=SCHEDULE,
            poll_interval_s=0.002,
        )
        change = commit_of(CALL, 0, account="a", target="grpc://x:1")
        await self.store.commit(SHARD, token, [change])
        dispatcher.enqueue(SHARD, change)
        await until(self._has_failed, every_s=0.002, what="the first attempt")

    async def until_polled(self) -> None:
        """Wait until the store was polled since now."""
        polls = self.outbox.polls
        await until(lambda: self.outbox.polls >= polls + 3, every_s=0.002, what="polls")

    async def _has_failed(self) -> bool:
        return (await self.store.callback_queue.pending_events(SHARD, CALL, 1)).tries == 1


async def test_a_postponed_event_is_retried_when_it_is_due() -> None:
    """Not a millisecond earlier: the customer chose the time."""
    scene = Scene()
    async with AsyncExitStack() as stack:
        await scene.open(stack)
        scene.now_ms += int(RETRY_AFTER_S * 1000) - 1
        await scene.until_polled()
        assert scene.transport.attempts == 1
        scene.now_ms += 1
        await until(lambda: scene.transport.attempts == 2, every_s=0.002, what="the retry")


async def test_a_failure_is_logged_with_its_call_and_event() -> None:
    """An operator finds the call by its id, and how often the event has failed."""
    scene = Scene()
    with capture_logs() as logged:
        async with AsyncExitStack() as stack:
            await scene.open(stack)
    assert logged == [
        {
            "event": "callback failed",
            "log_level": "info",
            "call_id": CALL,
            "event_id": f"{CALL}.e0",
            "reason": "status_503",
            "tries": 1,
            "retry_in_s": RETRY_AFTER_S,
        }
    ]


async def test_a_call_of_a_closed_shard_is_left_to_the_next_owner() -> None:
    """Nothing is delivered, none of its events follows, and another call may probe the target."""
    store, transport = MemoryStore(), BusyTransport()
    worker = CallDelivery(
        store.callback_queue, create_attempt(store, transport, SCHEDULE, Metrics()), {}
    )
    target = TargetQueue("a grpc://x:1", CircuitBreaker(), lambda: OPEN_S)
    for _ in range(MAX_FAILURES):
        target.circuit.record_failure(0)
    target.circuit.record_start()
    call = CallQueue(SHARD, CALL, target.delivery_key)
    assert not await worker.deliver_next(target, call, lambda _call: False)
    assert transport.attempts == 0
    assert target.circuit.allows(OPEN_S)
