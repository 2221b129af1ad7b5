"""What an attempt counts: how long its event has waited, and that it is a repetition."""

import pytest

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.transport import Delivered, Outcome, SignedEvent
from engine.observe.event_metrics import CallbackMetrics
from engine.observe.metrics import Metrics
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from wire.callbacks.targets import DeliveryTarget, HttpsTarget

EMITTED_MS = 10_000


class AcceptingTransport:
    async def deliver(self, _target: DeliveryTarget, _event: SignedEvent) -> Outcome:
        return Delivered()


async def attempted(call: CallQueue, now_ms: int) -> CallbackMetrics:
    """Return the metrics after an attempt at this time."""
    metrics = Metrics().callbacks
    attempt = DeliveryAttempt(
        AccountSettings(MemoryStore().callback_queue, lambda: now_ms, AccountSecrets(b"key")),
        {HttpsTarget: AcceptingTransport()},
        RetrySchedule((0.0,)),
        lambda: now_ms / 1000,
        lambda: now_ms,
        lambda: 0.5,
        metrics,
    )
    event = (0, b'{"event": "initiated", "timestamp": %d}' % EMITTED_MS)
    assert not (await attempt.deliver(call, event)).reason
    assert metrics.delivered.table()["https"] == 1
    assert metrics.attempt_duration.series("https").count == 1
    return metrics


def queue() -> CallQueue:
    return CallQueue(SHARD, "c1", "acme https://a.example/")


@pytest.mark.parametrize(("late_ms", "waited_s"), [(1_500, 1.5), (0, 0.0), (-20, 0.0)])
async def test_the_time_that_an_event_has_waited(late_ms: int, waited_s: float) -> None:
    """By the clock that dates events, which another engine may have had ahead."""
    metrics = await attempted(queue(), EMITTED_MS + late_ms)
    waited = metrics.queue_time.series("https")
    assert (waited.count, waited.total) == (1, waited_s)
    assert metrics.retried.table()["https"] == 0


async def test_a_retry_has_not_waited_in_a_queue() -> None:
    """It was due later; neither has one that a new owner finds due, which is no retry."""
    retry, due = queue(), queue()
    retry.tries, due.is_due = 1, True
    for call, retries in ((retry, 1), (due, 0)):
        metrics = await attempted(call, EMITTED_MS + 1_500)
        assert metrics.queue_time.series("https").count == 0
        assert metrics.retried.table()["https"] == retries
