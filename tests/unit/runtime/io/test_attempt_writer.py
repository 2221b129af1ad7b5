"""The webhook log is written in the background, and never delays what it records."""

import asyncio
from collections.abc import Sequence

from engine.observe.event_metrics import WebhookLogMetrics
from engine.runtime.io.attempt_writer import AttemptWriter, WriterLimits
from engine.store.errors import StoreDown
from engine.store.webhook_log import NEWEST, NewAttempt, WebhookLogLimits
from tests.harness.memory_store.webhook_log import MemoryWebhookLog
from tests.harness.until import until
from tests.unit.webhooks.log.exchanges import CALL, attempt

QUICK = WriterLimits(interval_s=0.01)


class FaultyLog(MemoryWebhookLog):
    """A log that can be down, or slow."""

    def __init__(self) -> None:
        super().__init__(lambda: 1_795_262_400_000, WebhookLogLimits())
        self.is_down = False
        self.batches: list[int] = []
        self.may_store = asyncio.Event()
        self.may_store.set()

    async def append(self, account: str, attempts: Sequence[NewAttempt]) -> None:
        """Store attempts, unless down."""
        await self.may_store.wait()
        if self.is_down:
            raise StoreDown("test fault")
        self.batches.append(len(attempts))
        await super().append(account, attempts)


class Scene:
    """A writer and its store."""

    def __init__(self, limits: WriterLimits = QUICK, *, is_on: bool = True) -> None:
        self.store, self.metrics = FaultyLog(), WebhookLogMetrics()
        self.writer = AttemptWriter(self.store, self.metrics, limits, is_on=is_on)

    async def stored(self) -> int:
        """Return how many attempts the account has."""
        return len(await self.store.read_before("acme", NEWEST, 10_000))

    @property
    def dropped(self) -> dict[str, int]:
        """Return how many were dropped, by reason."""
        return {reason: number for (reason,), number in self.metrics.dropped if number}


async def test_attempts_are_stored_soon() -> None:
    """In batches, under their account and call."""
    scene = Scene()
    scene.writer.start()
    for _ in range(150):
        scene.writer.add(attempt())
    await until(lambda: sum(scene.store.batches) == 150)
    assert len(scene.store.batches) < 10
    assert len(await scene.store.of_call("acme", CALL)) == 150
    assert scene.metrics.recorded.total == 150
    await scene.writer.close()


async def test_what_is_left_is_stored_at_the_end() -> None:
    """An engine that stops stores what waits."""
    scene = Scene(WriterLimits(interval_s=3_600))
    scene.writer.start()
    scene.writer.add(attempt())
    await asyncio.sleep(0)
    assert await scene.stored() == 0
    await scene.writer.close()
    assert await scene.stored() == 1


async def test_too_many_attempts() -> None:
    """The store is slow: attempts are dropped, and counted."""
    scene = Scene(WriterLimits(interval_s=0.01, max_queued=10))
    scene.store.may_store.clear()
    for _ in range(15):
        scene.writer.add(attempt())
    assert scene.dropped == {"queue_full": 5}
    scene.store.may_store.set()
    await scene.writer.flush()
    assert await scene.stored() == 10


async def test_the_store_is_down() -> None:
    """Its attempts are dropped; later ones are stored."""
    scene = Scene()
    scene.store.is_down = True
    scene.writer.add(attempt())
    await scene.writer.flush()
    assert scene.dropped == {"store_down": 1}
    scene.store.is_down = False
    scene.writer.add(attempt())
    await scene.writer.flush()
    assert await scene.stored() == 1


async def test_an_attempt_that_cannot_be_stored() -> None:
    """It is dropped and counted; the log of all others goes on."""
    scene = Scene()
    scene.writer.start()
    scene.writer.add(attempt(reason="\udcff"))
    scene.writer.add(attempt())
    await until(lambda: sum(scene.store.batches) == 1)
    scene.writer.add(attempt())
    await until(lambda: sum(scene.store.batches) == 2)
    assert scene.dropped == {"not_storable": 1}
    await scene.writer.close()


async def test_no_log() -> None:
    """An engine without a log keeps nothing."""
    scene = Scene(is_on=False)
    scene.writer.add(attempt())
    await scene.writer.flush()
    assert await scene.stored() == 0
    assert scene.dropped == {}
