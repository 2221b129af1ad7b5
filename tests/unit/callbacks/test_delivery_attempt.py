"""What follows an attempt: delivered, tried again, or given up, with its counts and log lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from structlog.testing import capture_logs

from base.metrics import Counter
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.delivery_attempt import (
    DELAYS_S,
    JITTER,
    DeliveryAttempt,
    DeliveryDecision,
    RetrySchedule,
)
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.target_queue import RateLimit
from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent
from engine.observe.metrics import Metrics
from tests.harness.callbacks.settings import SettingsWriter
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from wire.callbacks.account import PutCallback
from wire.callbacks.targets import DeliveryTarget, HttpsTarget

URL = "https://a.example/"
NOW_MS = 10_000
EVENT = (7, b'{"event": "initiated", "timestamp": 10000}')


class Target:
    """A target with a fixed answer, or a fault."""

    def __init__(self, outcome: Outcome | Exception) -> None:
        self.got: list[SignedEvent] = []
        self._outcome = outcome

    async def deliver(self, _target: DeliveryTarget, event: SignedEvent) -> Outcome:
        self.got.append(event)
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class Scene:
    """Attempts at one target, of an account with its own settings."""

    def __init__(self, outcome: Outcome | Exception, *, is_stopped: bool = False) -> None:
        self.target, self.metrics = Target(outcome), Metrics().callbacks
        store = MemoryStore()
        self.targets = AccountSettings(store.callback_queue, lambda: NOW_MS, AccountSecrets(b"key"))
        self.settings = SettingsWriter(store, self.targets)
        self.attempt = DeliveryAttempt(
            self.targets,
            {HttpsTarget: self.target},
            RetrySchedule((0.0, 4.0)),
            lambda: NOW_MS / 1000,
            lambda: NOW_MS,
            lambda: 0.5,
            self.metrics,
            lambda account: is_stopped and account == "acme",
        )

    async def try_once(self, tries: int = 0, target: str = "auto-set") -> DeliveryDecision:
        """Return what follows an attempt."""
        call = CallQueue(SHARD, "c1", f"acme {target}")
        call.tries = tries
        return await self.attempt.deliver(call, EVENT)


def counts(counter: Counter) -> dict[tuple[str, ...], float]:
    """Return what was counted."""
    return {labels: count for labels, count in dict(counter).items() if count}


async def test_an_event_is_signed_and_numbered() -> None:
    """By its call and its place there; each attempt has a number, too."""
    scene = Scene(Delivered())
    await scene.settings.put("acme", PutCallback(target=URL, concurrency=3, per_s=2.5))
    decision = await scene.try_once(tries=2)
    assert decision == DeliveryDecision(is_target_up=True, rate_limit=RateLimit(3, 2.5))
    (event,) = scene.target.got
    assert (event.account, event.id, event.body, event.attempt) == ("acme", "c1.e7", EVENT[1], 3)
    signer = await scene.targets.signer("acme")
    assert event.headers == signer.headers("c1.e7", NOW_MS / 1000, EVENT[1], URL)
    assert counts(scene.metrics.dead_lettered) == {}


async def test_a_failed_event_is_tried_again_until_it_is_given_up() -> None:
    """The log has both; only what is given up is a dead letter."""
    scene = Scene(Failed("status_500"))
    await scene.settings.put("acme", PutCallback(target=URL))
    with capture_logs() as logs:
        again, last = await scene.try_once(), await scene.try_once(tries=2)
    assert again.reason == last.reason == "status_500"
    assert (again.is_target_up, last.is_target_up) == (False, False)
    assert again.retry_after_s is not None
    assert last.retry_after_s is None
    assert counts(scene.metrics.dead_lettered) == {("status_500",): 1}
    assert counts(scene.metrics.failed) == {("https", "status_500"): 2}
    assert counts(scene.metrics.delivered) == {}
    assert [(each["event"], each["call_id"], each["event_id"], each["tries"]) for each in logs] == [
        ("callback failed", "c1", "c1.e7", 1),
        ("callback given up", "c1", "c1.e7", 3),
    ]
    assert logs[0]["retry_in_s"] == round(again.retry_after_s, 1)


async def test_a_fault_of_the_engine_is_a_failed_attempt() -> None:
    """The event is tried again, and the log says why."""
    scene = Scene(RuntimeError("a fault"))
    await scene.settings.put("acme", PutCallback(target=URL))
    with capture_logs() as logs:
        decision = await scene.try_once()
    assert (decision.reason, decision.retry_after_s is not None) == ("internal", True)
    assert (logs[0]["event"], logs[0]["event_id"]) == ("callback delivery: internal error", "c1.e7")


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (Scene(Delivered(), is_stopped=True), "account_stopped"),
        (Scene(Delivered()), "no_target"),
    ],
)
async def test_a_call_without_a_target_is_given_up(scene: Scene, reason: str) -> None:
    """With all of its events, and without an attempt."""
    with capture_logs() as logs:
        decision = await scene.try_once()
    assert decision == DeliveryDecision(is_target_up=None, give_up_reason=reason)
    assert scene.target.got == []
    assert counts(scene.metrics.dead_lettered) == {(reason,): 1}
    assert [(each["event"], each["call_id"], each["reason"]) for each in logs] == [
        ("callbacks given up", "c1", reason)
    ]


async def test_a_target_that_is_gone_gets_no_more_events() -> None:
    """Of the account's settings; a target that a call names is not stopped for other calls."""
    scene = Scene(Gone())
    await scene.settings.put("acme", PutCallback(target=URL))
    named = await scene.try_once(target=URL)
    assert (named.is_target_up, named.give_up_reason) == (True, "gone")
    assert (await scene.try_once()).give_up_reason == "gone"
    assert (await scene.try_once()).give_up_reason == "stopped"
    assert len(scene.target.got) == 2
    assert counts(scene.metrics.dead_lettered) == {("gone",): 2, ("stopped",): 1}
    assert counts(scene.metrics.failed) == {}


SCHEDULE = RetrySchedule()


@given(some.integers(1, 5), some.floats(0, 1))
def test_the_delays_with_jitter(tries: int, random: float) -> None:
    """Each delay is that of the schedule, plus or minus a tenth."""
    after_s = SCHEDULE.next_delay_s(tries, 0, None, random)
    assert after_s is not None
    assert abs(after_s - DELAYS_S[tries]) <= DELAYS_S[tries] * JITTER * 1.001


def test_six_attempts() -> None:
    """At the documented times; after the sixth the event is given up."""
    delays_s = [SCHEDULE.next_delay_s(tries, 0, None, 0.5) for tries in range(6)]
    assert delays_s == [0, 5, 300, 1_800, 7_200, 18_000]
    assert SCHEDULE.next_delay_s(6, 0, None, 0.5) is None


@given(some.floats(0, 1e9), some.integers(1, 5))
def test_retry_after(retry_after_s: float, tries: int) -> None:
    """Retry-After makes a delay longer, never shorter, up to an hour."""
    after_s = SCHEDULE.next_delay_s(tries, 0, retry_after_s, 0.5)
    assert after_s == max(DELAYS_S[tries], min(retry_after_s, 3_600))


def test_an_event_that_waited_behind_others() -> None:
    """An event older than the whole schedule gets one attempt only."""
    assert SCHEDULE.next_delay_s(1, sum(DELAYS_S), None, 0.5) is not None
    assert SCHEDULE.next_delay_s(1, 2 * sum(DELAYS_S), None, 0.5) is None
