"""Delivers a call's first event and settles the outcome."""

from collections.abc import Mapping

import structlog
from msgspec import Struct

from engine.callbacks.call_queue import MAX_BUFFERED_EVENTS, CallQueue
from engine.callbacks.delivery_attempt import DeliveryAttempt, DeliveryDecision
from engine.callbacks.slot_outbox import SlotOutbox
from engine.callbacks.target_queue import RateLimit, TargetQueue
from engine.store.errors import StoreDown
from engine.store.outbox import GivenUp, Outbox, Settlement

log = structlog.get_logger()
# Marks a call's last event; where its data contains this text, it costs one read of the store.
LAST_EVENT_MARK = b'"event":"completed"'


class DeliveryWorker(Struct, frozen=True):
    """Delivers for the slots that are open."""

    outbox: Outbox
    delivery: DeliveryAttempt
    outboxes: Mapping[int, SlotOutbox]

    async def deliver_next(self, target: TargetQueue, call: CallQueue) -> bool:
        """Try to deliver a call's first event; returns whether the next one may follow."""
        outbox = self.outboxes.get(call.slot)
        decision = None
        try:
            if outbox is not None and await self._has_event(outbox, call):
                decision = await self.delivery.deliver(call, call.events[0])
        except StoreDown:
            self._discard(call)  # due again in the store when its claim expires
        except Exception:
            log.exception("callback delivery: internal error", call_id=call.call_id)
            self._discard(call)
        self._update_target(target, call, decision)
        if outbox is None or decision is None:
            return False
        return self._settle(outbox, call, decision)

    async def rate_limit(self, call: CallQueue) -> RateLimit:
        """Return the limits of a call's target; the defaults while the store is down."""
        try:
            return await self.delivery.rate_limit(call)
        except StoreDown:
            return RateLimit()

    def postpone(self, call: CallQueue, wait_s: float, tries: int = -1) -> None:
        """Leave a call's events in the store for a while."""
        outbox = self.outboxes.get(call.slot)
        if outbox is not None and outbox.contains(call):
            call.is_due_again = False
            settlement = Settlement(call.call_id, tries=tries, retry_after_ms=int(wait_s * 1000))
            outbox.settle(settlement, lambda: _release_postponed(outbox, call))

    def _discard(self, call: CallQueue) -> None:
        outbox = self.outboxes.get(call.slot)
        if outbox is not None:
            outbox.discard_queue(call)

    async def _has_event(self, outbox: SlotOutbox, call: CallQueue) -> bool:
        """Read a call's events unless all are in memory; return whether one is to be delivered."""
        if not outbox.contains(call):
            return False
        is_loaded = call.head is not None or call.is_complete or await self._load(outbox, call)
        if not (is_loaded and outbox.is_open):
            outbox.discard_queue(call)
        elif call.head is None:
            outbox.release(call)
        return outbox.contains(call)

    async def _load(self, outbox: SlotOutbox, call: CallQueue) -> bool:
        """Read a call's events; False when the first one failed and is not due yet."""
        await outbox.flush()  # otherwise delivered events would be read again
        call.has_gap = False
        pending = await self.outbox.pending_events(outbox.slot, call.call_id, MAX_BUFFERED_EVENTS)
        call.tries = pending.tries
        call.load(pending.events)
        return call.is_due or not pending.tries

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

    def _settle(self, outbox: SlotOutbox, call: CallQueue, decision: DeliveryDecision) -> bool:
        if decision.give_up_reason:
            settlement = Settlement(call.call_id, give_up_reason=decision.give_up_reason)
            outbox.settle(settlement, lambda: outbox.discard_queue(call))
            return False
        if decision.retry_after_s is not None:
            self.postpone(call, decision.retry_after_s, call.tries + 1)
            return False
        return self._advance(outbox, call, decision.reason)

    @staticmethod
    def _advance(outbox: SlotOutbox, call: CallQueue, reason: str) -> bool:
        """Settle the first event as delivered, or given up; return whether others are left."""
        seq, body = call.events.popleft()
        call.no_more_events = call.no_more_events or LAST_EVENT_MARK in body
        given_up = (GivenUp(seq, reason, call.tries + 1),) if reason else ()
        delivered = () if reason else (seq,)
        tries = 0 if call.tries else -1
        settlement = Settlement(call.call_id, delivered, given_up, tries=tries)
        call.tries, call.is_idle = 0, not call.events and call.is_complete
        call.unsettled += 1
        outbox.settle(settlement, lambda: _release_if_settled(outbox, call))
        return not call.is_idle


def _release_if_settled(outbox: SlotOutbox, call: CallQueue) -> None:
    """Release an idle call once all of its settlements are stored."""
    call.unsettled -= 1
    if call.is_idle and not call.unsettled:
        outbox.release(call)


def _release_postponed(outbox: SlotOutbox, call: CallQueue) -> None:
    """Release a postponed call; make it due now if it became due while that was being stored."""
    outbox.discard_queue(call)
    if call.is_due_again:
        outbox.settle(Settlement(call.call_id, retry_after_ms=0))
