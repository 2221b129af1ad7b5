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
        self._boxes = boxes

    async def take(self, lane: TargetQueue, line: CallQueue) -> bool:
        """Take a line's turn; tells whether it is to have another."""
        box = self._boxes.get(line.slot)
        verdict = None
        try:
            if box is not None and await self._is_at_hand(box, line):
                verdict = await self._delivery.deliver(line, line.events[0])
        except StoreDown:
            self._forget(line)  # it is looked for again when it was not noted for a while
        except Exception:
            log.exception("callback failed within", call_id=line.call_id)
            self._forget(line)
        self._tell(lane, line, verdict)
        return box is not None and verdict is not None and self._concluded(box, line, verdict)

    async def pace(self, line: CallQueue) -> RateLimit:
        """Tell what a line's target bears, as far as the store says it."""
        try:
            return await self._delivery.pace(line)
        except StoreDown:
            return RateLimit()

    def put_off(self, line: CallQueue, wait_s: float, tries: int = -1) -> None:
        """Leave a line's events to the store for a while."""
        box = self._boxes.get(line.slot)
        if box is not None and box.holds(line):
            line.is_found = False
            after = Settlement(line.call_id, tries=tries, after_ms=int(wait_s * 1000))
            box.note(after, lambda: _release_postponed(box, line))

    def _forget(self, line: CallQueue) -> None:
        box = self._boxes.get(line.slot)
        if box is not None:
            box.forget_line(line)

    async def _is_at_hand(self, box: SlotOutbox, line: CallQueue) -> bool:
        """Read a line's events where they are not all here; tell whether one is to be tried."""
        if not box.holds(line):
            return False
        is_there = line.first is not None or line.is_whole or await self._is_read(box, line)
        if not (is_there and box.is_open):
            box.forget_line(line)
        elif line.first is None:
            box.release(line)
        return box.holds(line)

    async def _is_read(self, box: SlotOutbox, line: CallQueue) -> bool:
        """Read a line's events; False when its first has failed, and its moment has not come."""
        await box.flushed()  # else what was delivered would be read again
        line.missed = False
        found = await self._outbox.waiting(box.slot, line.call_id, MAX_BUFFERED_EVENTS)
        line.tries = found.tries
        line.loaded(found.events)
        return line.is_due or not found.tries

    @staticmethod
    def _tell(lane: TargetQueue, line: CallQueue, verdict: DeliveryDecision | None) -> None:
        if verdict is None or verdict.is_answered is None:
            lane.circuit.withdrew()
        elif lane.tell(is_answered=verdict.is_answered):
            log.warning("callback target left alone", call_id=line.call_id, reason=verdict.reason)
        if verdict is not None and verdict.pace is not None:
            lane.pace = verdict.pace

    def _concluded(self, box: SlotOutbox, line: CallQueue, verdict: DeliveryDecision) -> bool:
        if verdict.rest:
            box.note(Settlement(line.call_id, rest=verdict.rest), lambda: box.forget_line(line))
            return False
        if verdict.after_s is not None:
            self.put_off(line, verdict.after_s, line.tries + 1)
            return False
        return self._passed(box, line, verdict.reason)

    @staticmethod
    def _passed(box: SlotOutbox, line: CallQueue, reason: str) -> bool:
        """Note that the first is delivered, or given up; tell whether others are left."""
        seq, body = line.events.popleft()
        line.ends = line.ends or LAST_EVENT_MARK in body
        given = (GivenUp(seq, reason, line.tries + 1),) if reason else ()
        done = () if reason else (seq,)
        settlement = Settlement(line.call_id, done, given, tries=0 if line.tries else -1)
        line.tries, line.is_resting = 0, not line.events and line.is_whole
        line.unsettled += 1
        box.note(settlement, lambda: _release_if_settled(box, line))
        return not line.is_resting


def _release_if_settled(box: SlotOutbox, line: CallQueue) -> None:
    """Release a line that has nothing left to do, once all of it is settled."""
    line.unsettled -= 1
    if line.is_resting and not line.unsettled:
        box.release(line)


def _release_postponed(box: SlotOutbox, line: CallQueue) -> None:
    """Let a line go that is put off; its moment may have come while that was being noted."""
    box.forget_line(line)
    if line.is_found:
        box.note(Settlement(line.call_id, after_ms=0))
