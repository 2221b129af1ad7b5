"""What follows an event that a listener received instead of its target."""

import time

import pytest
from msgspec.structs import replace

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.delivery_attempt import DeliveryAttempt, DeliveryDecision, RetrySchedule
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.transport import Delivered, Failed, Outcome, SignedEvent
from engine.observe.metrics import Metrics
from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import DeliveryTarget, HttpsTarget

EVENT = (0, b'{"event": "initiated", "timestamp": 1}')


class FixedTransport:
    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    async def deliver(self, _target: DeliveryTarget, _event: SignedEvent) -> Outcome:
        return self._outcome


@pytest.mark.parametrize(
    ("outcome", "is_target_up"),
    [(Delivered(), True), (Failed("status_500"), False)],
)
async def test_a_listener_says_nothing_about_the_target(
    outcome: Delivered | Failed, is_target_up: bool
) -> None:
    """It counts for no circuit; the event itself is delivered, or retried, as usual."""
    store = MemoryStore()
    targets = AccountSettings(
        store.callback_queue, lambda: int(time.time() * 1000), AccountSecrets(b"key")
    )
    await SettingsWriter(store, targets).put("acme", PutCallback(target="https://a.example"))

    async def decide(of: Outcome) -> DeliveryDecision:
        attempt = DeliveryAttempt(
            targets,
            {HttpsTarget: FixedTransport(of)},
            RetrySchedule((0.0, 5.0)),
            time.time,
            lambda: 1,
            lambda: 0.5,
            Metrics().callbacks,
        )
        return await attempt.deliver(CallQueue(SHARD, "c1", "acme auto-set"), EVENT)

    from_target = await decide(outcome)
    from_listener = await decide(replace(outcome, is_from_target=False))
    assert from_target.is_target_up is is_target_up
    assert from_listener == replace(from_target, is_target_up=None)
