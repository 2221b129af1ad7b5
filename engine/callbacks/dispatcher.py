"""The courier: hands what calls tell to their customers as soon as it is stored, until it arrives.

Events go from memory, in order for each call; the store has them until they have arrived. What has
failed, and what its target can't take now, waits there alone, and is looked for every second.
"""

import asyncio

import structlog

from engine.callbacks.call_queue import CallQueue
from engine.callbacks.retry_schedule import RetrySchedule
from engine.callbacks.slot_outbox import LeaseView, SettlementWriter, SlotOutbox
from engine.callbacks.target_queues import TargetQueues
from engine.observe.metrics import Metrics
from engine.store.change import Change
from engine.store.errors import Fenced, StoreDown
from engine.store.outbox import DueCall, Outbox, OutboxLimits, Settlement

log = structlog.get_logger()
POLL_INTERVAL_S = 1.0
MAX_CLAIMED_CALLS = 500
CLAIM_AHEAD_MS = OutboxLimits().hold_ms  # as long as a dead owner may have had something in hand


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
        self._look_s = look_s
        self._outbox = outbox
        self._lanes = lanes
        self._boxes = boxes
        self._schedule = schedule
        self._counts = meter.callbacks
        self._closing: set[asyncio.Task[None]] = set()
        self._woken = asyncio.Event()

    def open(self, slot: int, lease: LeaseView) -> None:
        """Deliver for a slot from now on, first what its last owner left."""
        self.drop(slot)
        self._boxes[slot] = SlotOutbox(
            slot, lease, SettlementWriter(self._outbox, slot, lease.token)
        )
        self._woken.set()

    def drop(self, slot: int) -> None:
        """Leave a slot to its next owner."""
        box = self._boxes.pop(slot, None)
        if box is not None:
            self._counts.left(slot)
            closing = asyncio.get_running_loop().create_task(box.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def settled(self, slot: int) -> None:
        """Begin nothing more for a slot, and wait until what was delivered is noted."""
        box = self._boxes.get(slot)
        if box is not None:
            box.is_closing = True
            await box.flushed()

    def take(self, slot: int, change: Change) -> None:
        """Hand on what was told just now, and is stored."""
        box = self._boxes.get(slot)
        if box is None or box.is_closing:
            return
        line = box.lines.get(change.call_id)
        is_waiting = line is None or line.is_resting
        if line is None:
            if not self._lanes.of(change.way).has_room():
                box.forget(change.call_id)
                return
            line = box.line_of(change.call_id, change.way, change.first_due)
            box.hold(line)
        line.add(enumerate(change.due, change.first_due), ends=not change.live)
        if is_waiting:
            self._lanes.queue(line)

    def overflowed(self, slot: int, count: int) -> None:
        """Note loudly that events found no room, and became dead letters."""
        self._counts.dead.of()["overflow"] += count
        log.error("callbacks given up: too many wait", slot=slot, events=count)

    async def run(self) -> None:
        """Look for what is due, until cancelled."""
        while True:
            self._woken.clear()
            for box in list(self._boxes.values()):
                if box.is_open:
                    await self._look(box)
            self._lanes.sweep()
            self._counts.circuits_open.of()[""] = self._lanes.open_circuits
            try:
                async with asyncio.timeout(self._look_s):
                    await self._woken.wait()
            except TimeoutError:
                pass

    async def close(self) -> None:
        """Stop; what is on its way is delivered again by the next owner."""
        for slot in list(self._boxes):
            self.drop(slot)
        await self._lanes.close()
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def _look(self, box: SlotOutbox) -> None:
        ahead_ms = CLAIM_AHEAD_MS if box.is_new else 0
        try:
            taken = await self._outbox.take(box.slot, box.lease.token, ahead_ms, MAX_CLAIMED_CALLS)
        except (StoreDown, Fenced):
            return  # the next look, or the keeper, sees
        self._counts.stands(box.slot, taken.waiting, taken.oldest_ms)
        for due in taken.calls:
            self._found(box, due)
        is_all = len(taken.calls) < MAX_CLAIMED_CALLS
        box.is_new = box.is_new and not is_all
        if not is_all:
            self._woken.set()

    def _found(self, box: SlotOutbox, due: DueCall) -> None:
        line = box.lines.get(due.call_id)
        if line is not None:
            line.is_due = line.is_found = True  # whoever has it in hand sees to it
            return
        lane = self._lanes.of(due.way)
        if lane.has_room():
            line = CallQueue(box.slot, due.call_id, due.way)
            line.age_ms, line.is_due = due.age_ms, True
            box.hold(line)
            self._lanes.queue(line)
        elif self._schedule.is_over(due.age_ms / 1000):
            self._counts.dead.of()["circuit_open"] += 1
            log.warning("callbacks given up", call_id=due.call_id, reason="circuit_open")
            box.note(Settlement(due.call_id, rest="circuit_open"))
        else:
            after_ms = int(self._lanes.back_in_s(lane) * 1000)
            box.note(Settlement(due.call_id, after_ms=after_ms))
