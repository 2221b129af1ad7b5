"""One try to deliver an event: where it goes now, signed, and what follows from the outcome."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter

import msgspec
import structlog
from msgspec import Struct

from engine.callbacks.call_queue import CallQueue
from engine.callbacks.messages import Delivered, Failed, Gone, Outcome, SignedEvent, Transport
from engine.callbacks.retry_schedule import RetrySchedule
from engine.callbacks.target_queue import RateLimit
from engine.callbacks.targets import CallbackSettings, CallbackTargets
from engine.observe.metrics import Metrics
from engine.store.errors import StoreDown
from wire.callback_targets import (
    AUTO_SET,
    ApiRequestTarget,
    DeliveryTarget,
    GrpcTarget,
    HttpsTarget,
)

log = structlog.get_logger()
TARGET_KINDS: Mapping[type, str] = {
    HttpsTarget: "https",
    GrpcTarget: "grpc",
    ApiRequestTarget: "request",
}


class DeliveryDecision(Struct, frozen=True):
    """What follows from a try: the event has arrived, is tried again, or is given up, or all are.

    `is_answered` tells the circuit how the target does; None: it was not asked.
    """

    is_target_up: bool | None
    reason: str = ""  # why it has not arrived
    retry_after_s: float | None = None  # to be tried again
    give_up_reason: str = ""  # why the call's events are all given up
    rate_limit: RateLimit | None = None


class _Timestamp(Struct, frozen=True):
    timestamp: int


_decode_timestamp = msgspec.json.Decoder(_Timestamp).decode


class Delivery:
    """Tries; `clock` gives wall-clock seconds, `now_ms` the time by which events are dated."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        accounts: CallbackTargets,
        carriers: Mapping[type, Transport],
        schedule: RetrySchedule,
        *,
        clock: Callable[[], float],
        now_ms: Callable[[], int],
        random: Callable[[], float],
        meter: Metrics,
    ) -> None:
        self._targets = accounts
        self._transports = carriers
        self._schedule = schedule
        self._clock = clock
        self._now_ms = now_ms
        self._random = random
        self._metrics = meter.callbacks

    async def deliver(self, line: CallQueue, event: tuple[int, bytes]) -> DeliveryDecision:
        """Try to deliver a line's first event; raises StoreDown before it has."""
        name, _, target = line.delivery_key.partition(" ")
        account = await self._targets.settings(name)
        place = await self._targets.resolve(name, target)
        if place is None:
            is_stopped = account is not None and account.is_stopped
            return self._give_up_all(line, "stopped" if is_stopped else "no_target")
        parcel = self._sign(name, account, f"{line.call_id}.e{event[0]}", event[1])
        outcome = await self._attempt(line, place, parcel)
        verdict = self._decide(line, outcome, parcel.id)
        if isinstance(outcome, Gone) and target == AUTO_SET:
            with suppress(StoreDown):  # it says so again
                await self._targets.stop(name, place)
        return msgspec.structs.replace(verdict, rate_limit=_rate_limit(account))

    async def rate_limit(self, line: CallQueue) -> RateLimit:
        """Tell what a line's target bears; raises StoreDown."""
        return _rate_limit(await self._targets.settings(line.delivery_key.partition(" ")[0]))

    def _sign(
        self, name: str, account: CallbackSettings | None, event_id: str, body: bytes
    ) -> SignedEvent:
        headers = self._targets.signer_of(account).headers(event_id, self._clock(), body)
        return SignedEvent(name, event_id, body, headers)

    async def _attempt(
        self, line: CallQueue, place: DeliveryTarget, parcel: SignedEvent
    ) -> Outcome:
        kind = TARGET_KINDS[type(place)]
        if line.tries:
            self._metrics.retried.table()[kind] += 1
        elif not line.is_due:
            late_ms = self._now_ms() - _decode_timestamp(parcel.body).timestamp
            self._metrics.queue_time.series(kind).observe(max(0, late_ms) / 1000)
        began_s = perf_counter()
        outcome = await self._transports[type(place)].deliver(place, parcel)
        if isinstance(outcome, Failed):
            self._metrics.failed.table(kind)[outcome.reason] += 1
        else:
            self._metrics.delivered.table()[kind] += 1
        self._metrics.attempt_duration.series(kind).observe(perf_counter() - began_s)
        return outcome

    def _decide(self, line: CallQueue, outcome: Outcome, event_id: str) -> DeliveryDecision:
        match outcome:
            case Delivered():
                return DeliveryDecision(is_target_up=True)
            case Gone():
                return msgspec.structs.replace(self._give_up_all(line, "gone"), is_target_up=True)
            case Failed(reason, asked_s):
                tries, age_s = line.tries + 1, line.age_ms / 1000
                after_s = self._schedule.next_delay_s(tries, age_s, asked_s, self._random())
                said = log.bind(call_id=line.call_id, event=event_id, reason=reason, tries=tries)
                if after_s is None:
                    self._metrics.dead_lettered.table()[reason] += 1
                    said.warning("callback given up")
                else:
                    said.info("callback failed", again_s=round(after_s, 1))
                return DeliveryDecision(is_target_up=False, reason=reason, retry_after_s=after_s)

    def _give_up_all(self, line: CallQueue, reason: str) -> DeliveryDecision:
        self._metrics.dead_lettered.table()[reason] += 1
        log.warning("callbacks given up", call_id=line.call_id, reason=reason)
        return DeliveryDecision(is_target_up=None, give_up_reason=reason)


def _rate_limit(account: CallbackSettings | None) -> RateLimit:
    return RateLimit() if account is None else RateLimit(account.concurrency, account.per_s)
