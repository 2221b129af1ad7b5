"""One delivery attempt: resolves the target, signs the event, and decides what follows."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter

import msgspec
import structlog
from msgspec import Struct

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.target_queue import RateLimit
from engine.callbacks.transport import (
    Delivered,
    Failed,
    Gone,
    Outcome,
    SignedEvent,
    Transport,
    sign,
)
from engine.observe.event_metrics import CallbackMetrics
from engine.store.callback_queue import GivenUp
from engine.store.errors import StoreDown
from wire.callbacks.settings import CallbackSettings
from wire.callbacks.targets import (
    AUTO_SET,
    ApiRequestTarget,
    DeliveryTarget,
    GrpcTarget,
    HttpsTarget,
)

DELAYS_S = (0.0, 5.0, 300.0, 1_800.0, 7_200.0, 18_000.0)
MAX_RETRY_AFTER_S = 3_600.0
JITTER = 0.1  # of a delay, either way: events that failed together don't return together
MAX_AGE_FACTOR = 1.2  # of the whole schedule: an event that waited behind others gets no second one


class RetrySchedule(Struct, frozen=True):
    """The delay in seconds before each attempt."""

    delays_s: tuple[float, ...] = DELAYS_S

    def next_delay_s(
        self, tries: int, age_s: float, retry_after_s: float | None, random: float
    ) -> float | None:
        """Return the delay after so many attempts; None: give up.

        `retry_after_s` is what the server requested (Retry-After), `random` within 0..1.
        """
        if tries >= len(self.delays_s) or self.is_expired(age_s):
            return None
        delay_s = self.delays_s[tries] * (1 + JITTER * (2 * random - 1))
        return max(delay_s, min(retry_after_s or 0.0, MAX_RETRY_AFTER_S))

    def is_expired(self, age_s: float) -> bool:
        """Return whether an event is older than all attempts together take."""
        return age_s > sum(self.delays_s) * MAX_AGE_FACTOR + MAX_RETRY_AFTER_S


log = structlog.get_logger()
TARGET_KINDS: Mapping[type, str] = {
    HttpsTarget: "https", GrpcTarget: "grpc", ApiRequestTarget: "request"
}  # fmt: skip


class DeliveryDecision(Struct, frozen=True):
    """What follows an attempt: the event arrived, is retried or given up, or all events are.

    `is_target_up` updates the circuit breaker; None: the target was not contacted.
    """

    is_target_up: bool | None
    reason: str = ""  # why the event has not arrived
    retry_after_s: float | None = None
    give_up_reason: str = ""  # why all the call's events are given up
    passed_over: tuple[GivenUp, ...] = ()  # earlier events that fail although this one arrives
    rate_limit: RateLimit | None = None


class _Timestamp(Struct, frozen=True):
    timestamp: int


_decode_timestamp = msgspec.json.Decoder(_Timestamp).decode


class DeliveryAttempt(Struct, frozen=True):
    """Makes attempts; `clock` gives wall-clock seconds, `now_ms` the clock that dates events."""

    targets: AccountSettings
    transports: Mapping[type, Transport]
    schedule: RetrySchedule
    clock: Callable[[], float]
    now_ms: Callable[[], int]
    random: Callable[[], float]
    metrics: CallbackMetrics
    is_stopped: Callable[[str], bool] = lambda _account: False  # its events become dead letters

    async def deliver(self, call: CallQueue, event: tuple[int, bytes]) -> DeliveryDecision:
        """Try to deliver a call's first event; raises StoreDown before the attempt only."""
        account, _, name = call.delivery_key.partition(" ")
        if self.is_stopped(account):
            return self._give_up_all(call, "account_stopped")
        settings = await self.targets.settings(account)
        target = await self.targets.resolve(account, name)
        if target is None:
            is_stopped = settings is not None and settings.is_stopped
            return self._give_up_all(call, "stopped" if is_stopped else "no_target")
        event_id, attempt = f"{call.call_id}.e{event[0]}", call.tries + 1
        unsigned = SignedEvent(account, event_id, event[1], attempt=attempt)
        signed = sign(unsigned, target, await self.targets.signer(account), self.clock())
        outcome = await self._attempt(call, target, signed)
        decision = self._decide(call, outcome, signed.id)
        if isinstance(outcome, Gone) and name == AUTO_SET:
            with suppress(StoreDown):  # the target answers 410 again next time
                await self.targets.stop(account, target)
        return msgspec.structs.replace(decision, rate_limit=_rate_limit(settings))

    async def rate_limit(self, call: CallQueue) -> RateLimit:
        """Return the limits of a call's target; raises StoreDown."""
        return _rate_limit(await self.targets.settings(call.delivery_key.partition(" ")[0]))

    async def _attempt(
        self, call: CallQueue, target: DeliveryTarget, event: SignedEvent
    ) -> Outcome:
        kind = TARGET_KINDS[type(target)]
        if call.tries:
            self.metrics.retried.table()[kind] += 1
        elif not call.is_due:
            late_ms = self.now_ms() - _decode_timestamp(event.body).timestamp
            self.metrics.queue_time.series(kind).observe(max(0, late_ms) / 1000)
        started_s = perf_counter()
        try:
            outcome = await self.transports[type(target)].deliver(target, event)
        except Exception:
            log.exception("callback delivery: internal error", event_id=event.id)
            outcome = Failed("internal")
        if isinstance(outcome, Failed):
            self.metrics.failed.table(kind)[outcome.reason] += 1
        else:
            self.metrics.delivered.table()[kind] += 1
        self.metrics.attempt_duration.series(kind).observe(perf_counter() - started_s)
        return outcome

    def _decide(self, call: CallQueue, outcome: Outcome, event_id: str) -> DeliveryDecision:
        match outcome:
            case Delivered(is_from_target):
                return DeliveryDecision(is_target_up=True if is_from_target else None)
            case Gone():
                return msgspec.structs.replace(self._give_up_all(call, "gone"), is_target_up=True)
            case Failed(reason, retry_after_s, is_from_target):
                tries, age_s = call.tries + 1, call.age_ms / 1000
                delay_s = self.schedule.next_delay_s(tries, age_s, retry_after_s, self.random())
                event_log = log.bind(
                    call_id=call.call_id, event_id=event_id, reason=reason, tries=tries
                )
                if delay_s is None:
                    self.metrics.dead_lettered.table()[reason] += 1
                    event_log.warning("callback given up")
                else:
                    event_log.info("callback failed", retry_in_s=round(delay_s, 1))
                return DeliveryDecision(
                    is_target_up=False if is_from_target else None,
                    reason=reason,
                    retry_after_s=delay_s,
                )

    def _give_up_all(self, call: CallQueue, reason: str) -> DeliveryDecision:
        self.metrics.dead_lettered.table()[reason] += 1
        log.warning("callbacks given up", call_id=call.call_id, reason=reason)
        return DeliveryDecision(is_target_up=None, give_up_reason=reason)


def _rate_limit(settings: CallbackSettings | None) -> RateLimit:
    return RateLimit() if settings is None else RateLimit(settings.concurrency, settings.per_s)
