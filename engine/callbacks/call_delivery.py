"""Delivers a call's first event and settles the outcome."""

from collections.abc import Callable, Mapping

import structlog
from msgspec import Struct
from msgspec.structs import replace

from engine.callbacks.delivery_attempt import DeliveryAttempt, DeliveryDecision
from engine.callbacks.shard_queues import MAX_BUFFERED_EVENTS, CallQueue, ShardQueues
from engine.callbacks.target_queue import RateLimit, TargetQueue
from engine.store.callback_queue import CallbackQueue, GivenUp, Settlement
from engine.store.errors import StoreDown
from wire.shard import ShardId

log = structlog.get_logger()
BLOCKING_TRIES = 3  # an event that has failed so often no longer delays those behind it
Offer = Callable[[CallQueue], bool]  # returns whether there was room for the call
MAX_TRIED_EVENTS = 8  # of one call, one after another
# Marks a call's last event; where its data contains this text, it costs one read of the store.
LAST_EVENT_MARK = b'"event":"completed"'


class CallDelivery(Struct, frozen=True):
    """Delivers for the shards that are open."""

    callback_queue: CallbackQueue
    delivery: DeliveryAttempt
    shards: Mapping[ShardId, ShardQueues]

    async def deliver_next(self, target: TargetQueue, call: CallQueue, offer: Offer) -> bool:
        """Try to deliver a call's first event; returns whether the next one may follow.

        `offer` gets a call whose new events need not wait for its first one.
        """
        queues = self.shards.get(call.shard)
        if queues is None:
            target.circuit.record_cancel()
            return False
        queues.in_flight.add(call.call_id)
        try:
            decision = await self._attempt(queues, call)
            self._update_target(target, call, decision)
            return decision is not None and self._settle(queues, call, decision, offer)
        finally:
            queues.in_flight.discard(call.call_id)

    async def rate_limit(self, call: CallQueue) -> RateLimit:
        """Return the limits of a call's target; the defaults while they cannot be read."""
        try:
            return await self.delivery.rate_limit(call)
        except Exception:  # noqa: BLE001 - the delivery reads them again, and logs the error
            return RateLimit()

    def postpone(self, call: CallQueue, wait_s: float) -> None:
        """Leave a call's events in the store for a while."""
        queues = self.shards.get(call.shard)
        if queues is not None:
            self._postpone(queues, call, wait_s, tries=-1, offer=None)

    @staticmethod
    def _postpone(
        queues: ShardQueues, call: CallQueue, wait_s: float, tries: int, offer: Offer | None
    ) -> None:
        if queues.contains(call):
            call.is_due_again = call.has_new_events = False
            settlement = Settlement(call.call_id, tries=tries, retry_after_ms=int(wait_s * 1000))
            queues.settle(settlement, lambda: _release_postponed(queues, call, offer))

    async def _attempt(self, queues: ShardQueues, call: CallQueue) -> DeliveryDecision | None:
        """Make an attempt; None: there was nothing to deliver, or it could not be started."""
        try:
            if not await self._has_event(queues, call):
                return None
            decision = await self.delivery.deliver(call, call.events[0])
            if decision.retry_after_s is not None and call.tries + 1 >= BLOCKING_TRIES:
                return await self._try_later_events(call, decision)
        except StoreDown:
            queues.discard_queue(call)  # due again in the store when its claim expires
        except Exception:
            log.exception("callback delivery: internal error", call_id=call.call_id)
            queues.discard_queue(call)
        else:
            return decision
        return None

    async def _try_later_events(self, call: CallQueue, first: DeliveryDecision) -> DeliveryDecision:
        """Try the events behind one that keeps failing: if one arrives, those before are given up.

        So an event that the customer's code cannot process does not delay the others by hours
        (decision 0019). While the target is down, all events fail and wait for their schedule.
        """
        failed = [GivenUp(call.events[0][0], first.reason, call.tries + 1)]
        while len(failed) < min(len(call.events), MAX_TRIED_EVENTS):
            event = call.events[len(failed)]
            decision = await self.delivery.deliver(call, event)
            if decision.give_up_reason:
                return decision
            if not decision.reason:
                return replace(decision, passed_over=tuple(failed))
            if decision.reason == "timeout":
                break
            failed.append(GivenUp(event[0], decision.reason, 1))
        return first

    async def _has_event(self, queues: ShardQueues, call: CallQueue) -> bool:
        """Read a call's events unless all are in memory; return whether one is to be delivered."""
        if not queues.contains(call):
            return False
        is_loaded = call.head is not None or call.is_complete or await self._load(queues, call)
        if not (is_loaded and queues.is_open):
            queues.discard_queue(call)
        elif call.head is None:
            queues.release(call)
        return queues.contains(call)

    async def _load(self, queues: ShardQueues, call: CallQueue) -> bool:
        """Read a call's events; False when the first one failed and the others wait for it."""
        await queues.flush()  # otherwise delivered events would be read again
        call.has_gap = False
        pending = await self.callback_queue.pending_events(
            queues.shard, call.call_id, MAX_BUFFERED_EVENTS
        )
        call.tries = pending.tries
        call.load(pending.events)
        return call.is_due or not pending.tries or pending.tries >= BLOCKING_TRIES

    @staticmethod
    def _update_target(
        target: TargetQueue, call: CallQueue, decision: DeliveryDecision | None
    ) -> None:
        if decision is None or decision.is_target_up is None:
            target.circuit.record_cancel()
        elif target.record_result(is_target_up=decision.is_target_up):
            log.warning("callback circuit opened", call_id=call.call_id, reason=decision.reason)
        if decision is not None and decision.rate_limit is not None:
            target.rate_limit = decision.rate_limit

    def _settle(
        self, queues: ShardQueues, call: CallQueue, decision: DeliveryDecision, offer: Offer
    ) -> bool:
        if decision.give_up_reason:
            settlement = Settlement(call.call_id, give_up_reason=decision.give_up_reason)
            queues.settle(settlement, lambda: queues.discard_queue(call))
            return False
        if decision.retry_after_s is None:
            return self._advance(queues, call, decision.reason, decision.passed_over)
        if call.is_due or call.tries < BLOCKING_TRIES:
            tries = call.tries + 1
            offer_new = offer if tries >= BLOCKING_TRIES else None
            self._postpone(queues, call, decision.retry_after_s, tries, offer_new)
        else:  # tried because of a new event: its retry stays as scheduled
            queues.discard_queue(call)
        return False

    def _advance(
        self,
        queues: ShardQueues,
        call: CallQueue,
        reason: str,
        passed_over: tuple[GivenUp, ...],
    ) -> bool:
        """Settle the first event, or the one behind those passed over, as delivered or given up.

        Returns whether others are left.
        """
        for each in passed_over:
            call.events.popleft()
            self.delivery.metrics.dead_lettered.table()[each.reason] += 1
            log.warning("callback passed over", call_id=call.call_id, seq=each.seq)
        seq, body = call.events.popleft()
        call.no_more_events = call.no_more_events or LAST_EVENT_MARK in body
        given_up = (GivenUp(seq, reason, call.tries + 1),) if reason else passed_over
        delivered = () if reason else (seq,)
        tries = 0 if call.tries else -1
        settlement = Settlement(call.call_id, delivered, given_up, tries=tries)
        call.tries, call.is_idle = 0, not call.events and call.is_complete
        call.unsettled += 1
        queues.settle(settlement, lambda: _release_if_settled(queues, call))
        return not call.is_idle


def _release_if_settled(queues: ShardQueues, call: CallQueue) -> None:
    """Release an idle call once all of its settlements are stored."""
    call.unsettled -= 1
    if call.is_idle and not call.unsettled:
        queues.release(call)


def _release_postponed(queues: ShardQueues, call: CallQueue, offer: Offer | None) -> None:
    """Release a postponed call; make it due now if it became due while that was being stored.

    If an event was emitted meanwhile that need not wait for the first one, it is tried at once. The
    call is not due for that: it would count as a retry of the first event.
    """
    queues.discard_queue(call)
    if call.is_due_again:
        queues.settle(Settlement(call.call_id, retry_after_ms=0))
    elif offer is not None and call.has_new_events and queues.is_open:
        again = CallQueue(queues.shard, call.call_id, call.delivery_key)
        queues.add(again)
        if not offer(again):
            queues.discard_queue(again)
