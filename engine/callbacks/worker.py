"""A line's turn: its first event is tried, and what became of it is noted."""

from collections.abc import Mapping

import structlog

from engine.callbacks.call_queue import MAX_BUFFERED_EVENTS, CallQueue
from engine.callbacks.delivery import Delivery, DeliveryDecision
from engine.callbacks.slot_outbox import SlotOutbox
from engine.callbacks.target_queue import RateLimit, TargetQueue
from engine.store.errors import StoreDown
from engine.store.outbox import GivenUp, Outbox, Settlement

log = structlog.get_logger()
LAST_EVENT_MARK = (
    b'"event":"completed"'  # a call's last; found in its data, it costs one look at the store
)


class DeliveryWorker:
    """Takes turns for the boxes that are open."""

    def __init__(self, outbox: Outbox, delivery: Delivery, boxes: Mapping[int, SlotOutbox]) -> None:
        self._outbox = outbox
        self._delivery = delivery
        self._outboxes = boxes

    async def deliver_next(self, lane: TargetQueue, line: CallQueue) -> bool:
        """Take a line's turn; tells whether it is to have another."""
        box = self._outboxes.get(line.slot)
        verdict = None
        try:
            if box is not None and await self._has_event(box, line):
                verdict = await self._delivery.deliver(line, line.events[0])
        except StoreDown:
            self._discard(line)  # it is looked for again when it was not noted for a while
        except Exception:
            log.exception("callback failed within", call_id=line.call_id)
            self._discard(line)
        self._update_target(lane, line, verdict)
        return box is not None and verdict is not None and self._settle(box, line, verdict)

    async def rate_limit(self, line: CallQueue) -> RateLimit:
        """Tell what a line's target bears, as far as the store says it."""
        try:
            return await self._delivery.rate_limit(line)
        except StoreDown:
            return RateLimit()

    def postpone(self, line: CallQueue, wait_s: float, tries: int = -1) -> None:
        """Leave a line's events to the store for a while."""
        box = self._outboxes.get(line.slot)
        if box is not None and box.contains(line):
            line.is_due_again = False
            after = Settlement(line.call_id, tries=tries, retry_after_ms=int(wait_s * 1000))
            box.settle(after, lambda: _release_postponed(box, line))

    def _discard(self, line: CallQueue) -> None:
        box = self._outboxes.get(line.slot)
        if box is not None:
            box.discard_queue(line)

    async def _has_event(self, box: SlotOutbox, line: CallQueue) -> bool:
        """Read a line's events where they are not all here; tell whether one is to be tried."""
        if not box.contains(line):
            return False
        is_there = line.head is not None or line.is_complete or await self._load(box, line)
        if not (is_there and box.is_open):
            box.discard_queue(line)
        elif line.head is None:
            box.release(line)
        return box.contains(line)

    async def _load(self, box: SlotOutbox, line: CallQueue) -> bool:
        """Read a line's events; False when its first has failed, and its moment has not come."""
        await box.flush()  # else what was delivered would be read again
        line.has_gap = False
        found = await self._outbox.pending_events(box.slot, line.call_id, MAX_BUFFERED_EVENTS)
        line.tries = found.tries
        line.load(found.events)
        return line.is_due or not found.tries

    @staticmethod
    def _update_target(
        lane: TargetQueue, line: CallQueue, verdict: DeliveryDecision | None
    ) -> None:
        if verdict is None or verdict.is_target_up is None:
            lane.circuit.record_cancel()
        elif lane.record_result(is_answered=verdict.is_target_up):
            log.warning("callback target left alone", call_id=line.call_id, reason=verdict.reason)
        if verdict is not None and verdict.rate_limit is not None:
            lane.rate_limit = verdict.rate_limit

    def _settle(self, box: SlotOutbox, line: CallQueue, verdict: DeliveryDecision) -> bool:
        if verdict.give_up_reason:
            box.settle(
                Settlement(line.call_id, give_up_reason=verdict.give_up_reason),
                lambda: box.discard_queue(line),
            )
            return False
        if verdict.retry_after_s is not None:
            self.postpone(line, verdict.retry_after_s, line.tries + 1)
            return False
        return self._advance(box, line, verdict.reason)

    @staticmethod
    def _advance(box: SlotOutbox, line: CallQueue, reason: str) -> bool:
        """Note that the first is delivered, or given up; tell whether others are left."""
        seq, body = line.events.popleft()
        line.no_more_events = line.no_more_events or LAST_EVENT_MARK in body
        given = (GivenUp(seq, reason, line.tries + 1),) if reason else ()
        done = () if reason else (seq,)
        settlement = Settlement(line.call_id, done, given, tries=0 if line.tries else -1)
        line.tries, line.is_idle = 0, not line.events and line.is_complete
        line.unsettled += 1
        box.settle(settlement, lambda: _release_if_settled(box, line))
        return not line.is_idle


def _release_if_settled(box: SlotOutbox, line: CallQueue) -> None:
    """Release a line that has nothing left to do, once all of it is settled."""
    line.unsettled -= 1
    if line.is_idle and not line.unsettled:
        box.release(line)


def _release_postponed(box: SlotOutbox, line: CallQueue) -> None:
    """Let a line go that is put off; its moment may have come while that was being noted."""
    box.discard_queue(line)
    if line.is_due_again:
        box.settle(Settlement(line.call_id, retry_after_ms=0))
