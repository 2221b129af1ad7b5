"""When events reach their target, on virtual time: rates, circuits, and what the store keeps."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from base.tasks import cancel_all
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.concurrency_limit import ConcurrencyLimit
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.delivery_scheduler import IDLE_TIMEOUT_S, DeliveryScheduler
from engine.callbacks.dispatcher import MAX_CLAIMED_CALLS, CallbackDispatcher
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import ShardQueues
from engine.callbacks.target_queue import MAX_FAILURES, OPEN_S, CircuitBreaker
from engine.callbacks.transport import Delivered, Failed, Outcome, SignedEvent
from engine.observe.metrics import Metrics
from engine.store.callback_queue import CallbackQueueLimits
from engine.store.errors import StoreDown
from tests.harness.callbacks.scene import FakeLease, commit_of
from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.store.stores import claim_shard
from tests.harness.virtual_time import virtual_time
from tests.unit.callbacks.dispatchers import SlowOutbox
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import DeliveryTarget, GrpcTarget
from wire.shard import ShardId

TARGET = "grpc://x:1"
JITTER_S = 0.5
HOUR_S = 3_600.0
CLAIMED_S = CallbackQueueLimits().claim_ms / 1000


class FaultyOutbox(SlowOutbox):
    """An outbox that cannot read settings while it has a fault."""

    fault: Exception | None = None

    async def account(self, account: str) -> tuple[bytes | None, int]:
        """Raise the fault, if there is one."""
        if self.fault is not None:
            raise self.fault
        return await super().account(account)


class Scene:
    """A dispatcher and a target that is up or down, on the clock of the loop."""

    def __init__(self) -> None:
        self.clock = asyncio.get_running_loop().time
        self.store = MemoryStore(self.now_ms)
        self.outbox = FaultyOutbox(self.store.callback_queue, (1,))
        self.is_up = True
        self.takes_s = 0.0
        self.attempts: list[tuple[str, float]] = []
        self.metrics = Metrics()
        self.accounts = AccountSettings(self.outbox, self.now_ms, AccountSecrets(b"key"))
        schedule, outboxes = RetrySchedule((0.0, HOUR_S)), dict[ShardId, ShardQueues]()
        attempt = DeliveryAttempt(
            self.accounts,
            {GrpcTarget: self},
            schedule,
            self.clock,
            self.now_ms,
            lambda: 0.5,
            self.metrics.callbacks,
        )
        self.targets = DeliveryScheduler(
            CallDelivery(self.outbox, attempt, outboxes),
            CircuitBreaker,
            self.clock,
            lambda: JITTER_S,
            ConcurrencyLimit(),
        )
        self.dispatcher = CallbackDispatcher(
            self.outbox, self.targets, outboxes, schedule, self.metrics
        )
        self.token = 0

    def now_ms(self) -> int:
        return int(self.clock() * 1000)

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Outcome:
        """Record when an event came, and accept it if the target is up."""
        self.attempts.append((event.id.partition(".")[0], self.clock()))
        await asyncio.sleep(self.takes_s)  # on virtual time
        return Delivered() if self.is_up else Failed("status_500")

    async def commit(self, first: int, last: int, *, is_enqueued: bool = True) -> None:
        """Commit the first event of calls; an engine that ends at once enqueues none."""
        for number in range(first, last):
            change = commit_of(f"call{number}", 0, account="acme", target=TARGET)
            await self.store.commit(SHARD, self.token, [change])
            if is_enqueued:
                self.dispatcher.enqueue(SHARD, change)

    def times_s(self) -> list[float]:
        """List when the target got an event."""
        return [round(at_s, 3) for _, at_s in self.attempts]

    async def dead_letters(self) -> Counter[str]:
        """Count the events that were given up by their reason."""
        found = await self.store.callback_queue.dead_letters(SHARD, "acme", "", 1_000)
        return Counter(each.reason for each in found)


@asynccontextmanager
async def open_scene(*, left: int = 0, ago_s: float = 0.0) -> AsyncIterator[Scene]:
    """Run a dispatcher; the last owner of its shard has left some calls, a while ago."""
    scene = Scene()
    scene.token = await claim_shard(scene.store, SHARD, "me")
    await scene.commit(0, left, is_enqueued=False)
    await asyncio.sleep(ago_s)  # on virtual time
    scene.dispatcher.open_shard(SHARD, FakeLease(scene.token))
    running = asyncio.create_task(scene.dispatcher.run())
    yield scene
    await cancel_all([running])
    await scene.dispatcher.close()


@virtual_time
async def test_a_rate_spreads_deliveries() -> None:
    """Calls that wait for it need no other event to start."""
    async with open_scene() as at:
        await SettingsWriter(at.store, at.accounts).put("acme", PutCallback(concurrency=2, per_s=4))
        await at.commit(0, 4)
        await asyncio.sleep(1)  # on virtual time
        assert at.times_s() == [0.0, 0.0, 0.25, 0.5]
        await at.commit(4, 7)
        await asyncio.sleep(1)  # on virtual time
        assert at.times_s()[4:] == [1.0, 1.0, 1.25]


@virtual_time
async def test_calls_wait_in_the_store_while_the_circuit_is_open() -> None:
    """One of them probes the target when it may be up; the others follow soon after it."""
    async with open_scene() as at:
        at.is_up = False
        await at.commit(0, 8)
        await asyncio.sleep(1.5)  # on virtual time
        assert at.times_s() == [0.0] * MAX_FAILURES
        assert at.metrics.callbacks.open_circuits.total == 1
        await at.commit(8, 9)
        await asyncio.sleep(OPEN_S - 1.5)  # on virtual time
        assert len(at.attempts) == MAX_FAILURES
        at.is_up = True
        await asyncio.sleep(10)  # on virtual time
        assert at.metrics.callbacks.open_circuits.total == 0
        later = at.attempts[MAX_FAILURES:]
        assert sorted(call for call, _ in later) == ["call5", "call6", "call7", "call8"]
        assert all(at_s > OPEN_S + JITTER_S for _, at_s in later)


@virtual_time
async def test_calls_that_waited_too_long_for_a_circuit_are_given_up() -> None:
    """Those that have not, wait on."""
    async with open_scene(left=MAX_FAILURES + 3, ago_s=3 * HOUR_S) as at:
        at.is_up = False
        await at.commit(100, 101)
        await asyncio.sleep(OPEN_S + 5)  # on virtual time
        assert await at.dead_letters() == {"status_500": MAX_FAILURES, "circuit_open": 3}
        assert at.metrics.callbacks.dead_lettered.table()["circuit_open"] == 3


@virtual_time
async def test_more_calls_than_one_claim_takes() -> None:
    """A new owner claims at once all that the last one left, and claims no call again and again."""
    left = MAX_CLAIMED_CALLS + 1
    async with open_scene(left=left, ago_s=1.0) as at:
        at.takes_s = 1.0
        await asyncio.sleep(0.5)  # on virtual time
        assert at.outbox.polls <= 3
        at.takes_s = 0.0
        await asyncio.sleep(0.6)  # on virtual time
        assert len({call for call, _ in at.attempts}) == len(at.attempts) == left


@pytest.mark.parametrize("fault", [StoreDown("down"), RuntimeError("an internal error")])
@virtual_time
async def test_an_attempt_that_cannot_be_prepared(fault: Exception) -> None:
    """Its event is due again when its claim expires."""
    async with open_scene() as at:
        at.outbox.fault = fault
        await at.commit(0, 1)
        await asyncio.sleep(1)  # on virtual time
        at.outbox.fault = None
        await asyncio.sleep(CLAIMED_S)  # on virtual time
        assert at.times_s() == [CLAIMED_S]


@virtual_time
async def test_what_operators_see_of_a_shard() -> None:
    """Its events that wait and the age of the oldest, while it is open; also what had no room."""
    async with open_scene() as at:
        at.is_up = False
        await at.commit(0, 2)
        await asyncio.sleep(9.5)  # on virtual time
        shown = at.metrics.callbacks
        assert (shown.pending_events.total, shown.oldest_age.total) == (2, 9)
        at.dispatcher.record_overflow(SHARD, 2)
        at.dispatcher.record_overflow(SHARD, 1)
        assert shown.dead_lettered.table()["overflow"] == 3
        at.dispatcher.close_shard(SHARD)
        await asyncio.sleep(2)  # on virtual time
        assert [*shown.pending_events, *shown.oldest_age] == []


@virtual_time
async def test_a_target_without_deliveries_is_forgotten() -> None:
    """Not before that: its circuit and its window count meanwhile."""
    async with open_scene() as at:
        await at.commit(0, 1)
        await asyncio.sleep(IDLE_TIMEOUT_S)  # on virtual time
        known = at.targets.get(f"acme {TARGET}")
        assert known.is_proven
        await asyncio.sleep(2)  # on virtual time
        assert at.targets.get(f"acme {TARGET}") is not known
