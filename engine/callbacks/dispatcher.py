"""The courier: hands what calls tell to their customers as soon as it is stored, until it arrives.

Events go from memory, in order for each call; the store has them until they have arrived. What has
failed, and what its target can't take now, waits there alone, and is looked for every second.
"""

import asyncio

import structlog

from engine.callbacks.call_queue import CallQueue
from engine.callbacks.retry_schedule import RetrySchedule
from engine.callbacks.slot_outbox import SettlementWriter, SlotOutbox
from engine.callbacks.target_queues import TargetQueues
from engine.observe.metrics import Metrics
from engine.store.change import Change
from engine.store.errors import Fenced, StoreDown
from engine.store.lease import LeaseView
from engine.store.outbox import DueCall, Outbox, OutboxLimits, Settlement

log = structlog.get_logger()
POLL_INTERVAL_S = 1.0
MAX_CLAIMED_CALLS = 500
CLAIM_AHEAD_MS = OutboxLimits().claim_ms  # as long as a dead owner may have had something in hand


class CallbackDispatcher:
    """Delivers for the slots that are open here; `run` looks for what is due."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        outbox: Outbox,
        lanes: TargetQueues,
        boxes: dict[int, SlotOutbox],
        schedule: RetrySchedule,
        meter: Metrics,
        *,
        look_s: float = POLL_INTERVAL_S,
    ) -> None:
        self._poll_interval_s = look_s
        self._outbox = outbox
        self._targets = lanes
        self._outboxes = boxes
        self._schedule = schedule
        self._metrics = meter.callbacks
        self._closing: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    def open_slot(self, slot: int, lease: LeaseView) -> None:
        """Deliver for a slot from now on, first what its last owner left."""
        self.close_slot(slot)
        self._outboxes[slot] = SlotOutbox(
            slot, lease, SettlementWriter(self._outbox, slot, lease.token)
        )
        self._wake.set()

    def close_slot(self, slot: int) -> None:
        """Leave a slot to its next owner."""
        box = self._outboxes.pop(slot, None)
        if box is not None:
            self._metrics.clear_slot(slot)
            closing = asyncio.get_running_loop().create_task(box.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def drain(self, slot: int) -> None:
        """Begin nothing more for a slot, and wait until what was delivered is noted."""
        box = self._outboxes.get(slot)
        if box is not None:
            box.is_closing = True
            await box.flush()

    def enqueue(self, slot: int, change: Change) -> None:
        """Hand on what was told just now, and is stored."""
        box = self._outboxes.get(slot)
        if box is None or box.is_closing:
            return
        line = box.queues.get(change.call_id)
        is_waiting = line is None or line.is_idle
        if line is None:
            if not self._targets.get(change.delivery_key).has_room():
                box.discard(change.call_id)
                return
            line = box.create_queue(change.call_id, change.delivery_key, change.first_seq)
            box.add(line)
        line.add(enumerate(change.callbacks, change.first_seq), ends=not change.live)
        if is_waiting:
            self._targets.enqueue(line)

    def record_overflow(self, slot: int, count: int) -> None:
        """Note loudly that events found no room, and became dead letters."""
        self._metrics.dead_lettered.table()["overflow"] += count
        log.error("callbacks given up: too many wait", slot=slot, events=count)

    async def run(self) -> None:
        """Look for what is due, until cancelled."""
        while True:
            self._wake.clear()
            for box in list(self._outboxes.values()):
                if box.is_open:
                    await self._claim_due(box)
            self._targets.remove_unused()
            self._metrics.open_circuits.table()[""] = self._targets.open_circuits
            try:
                async with asyncio.timeout(self._poll_interval_s):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def close(self) -> None:
        """Stop; what is on its way is delivered again by the next owner."""
        for slot in list(self._outboxes):
            self.close_slot(slot)
        await self._targets.close()
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def _claim_due(self, box: SlotOutbox) -> None:
        ahead_ms = CLAIM_AHEAD_MS if box.is_new else 0
        try:
            taken = await self._outbox.claim_due(
                box.slot, box.lease.token, ahead_ms, MAX_CLAIMED_CALLS
            )
        except (StoreDown, Fenced):
            return  # the next look, or the keeper, sees
        self._metrics.set_pending(box.slot, taken.pending, taken.oldest_ms)
        for due in taken.calls:
            self._accept(box, due)
        is_all = len(taken.calls) < MAX_CLAIMED_CALLS
        box.is_new = box.is_new and not is_all
        if not is_all:
            self._wake.set()

    def _accept(self, box: SlotOutbox, due: DueCall) -> None:
        line = box.queues.get(due.call_id)
        if line is not None:
            line.is_due = line.is_due_again = True  # whoever has it in hand sees to it
            return
        lane = self._targets.get(due.delivery_key)
        if lane.has_room():
            line = CallQueue(box.slot, due.call_id, due.delivery_key)
            line.age_ms, line.is_due = due.age_ms, True
            box.add(line)
            self._targets.enqueue(line)
        elif self._schedule.is_expired(due.age_ms / 1000):
            self._metrics.dead_lettered.table()["circuit_open"] += 1
            log.warning("callbacks given up", call_id=due.call_id, reason="circuit_open")
            box.settle(Settlement(due.call_id, give_up_reason="circuit_open"))
        else:
            after_ms = int(self._targets.retry_delay_s(lane) * 1000)
            box.settle(Settlement(due.call_id, retry_after_ms=after_ms))
