"""Recoveries: desks compared with what their PBX shows, and told what nobody heard."""

import asyncio
from collections.abc import Callable

import structlog

from engine.ari.generated.models import Channel
from engine.calls.media.playbacks import awaited_playbacks
from engine.calls.recovery.dtmf import DigitsByLeg, digits_in_gap, missing_digits
from engine.calls.recovery.pending import active_voicemail
from engine.calls.recovery.reconcile import legs_being_dialled, reconcile
from engine.calls.recovery.snapshot import PbxSnapshot
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable, take_snapshot
from engine.runtime.shard.actor import Actor
from engine.runtime.shard.shard import CallShard

log = structlog.get_logger()
RETRY_DELAY_MS = 1_000
SETTLE_DELAY_MS = 50


class Recoveries:
    """Those of one node's desks that are going on, at most one a slot."""

    def __init__(
        self,
        pbx: Pbx,
        clock: Clock,
        heard: Callable[[], DigitsByLeg],
        claim: Callable[[CallShard, Channel], None],
    ) -> None:
        self._pbx = pbx
        self._clock = clock
        self._heard = heard  # the node's keys, as AMI tells them
        self._claim = claim  # a channel that is shown, and may be no call's
        self._going: dict[int, asyncio.Task[None]] = {}

    def __contains__(self, slot: int) -> bool:
        return slot in self._going

    def begin(self, slot: int, desk: CallShard) -> None:
        """Recover a desk, which stands until that is done."""
        if slot not in self._going:
            task = asyncio.get_running_loop().create_task(self._recovered(slot, desk))
            self._going[slot] = task

    def stop(self, slot: int) -> None:
        """Leave a desk as it is."""
        if recovery := self._going.pop(slot, None):
            recovery.cancel()

    async def close(self) -> None:
        """Leave all as they are; returns when nothing goes on."""
        for recovery in self._going.values():
            recovery.cancel()
        await asyncio.gather(*self._going.values(), return_exceptions=True)

    async def _recovered(self, slot: int, desk: CallShard) -> None:
        began_ms = self._clock.now_ms()
        # What is on its way arrives meanwhile: a playback asked for just now must not be missed.
        await asyncio.sleep(SETTLE_DELAY_MS / 1000)
        while True:
            actors = list(desk.actors.values())  # whoever comes from here on is heard
            try:
                seen, channels = await self._look(actors)
                break
            except PbxUnavailable as error:
                node = desk.context.node
                log.warning("pbx does not answer", node=node, slot=slot, error=str(error))
                await asyncio.sleep(RETRY_DELAY_MS / 1000)
        self._going.pop(slot, None)
        self._take_up(desk, actors, seen)
        for channel in channels:
            self._claim(desk, channel)
        took_ms = self._clock.now_ms() - began_ms
        desk.context.meter.nodes.recovery_duration.series(desk.context.node, slot).observe(
            took_ms / 1000
        )

    async def _look(self, actors: list[Actor]) -> tuple[PbxSnapshot, tuple[Channel, ...]]:
        waited_for = [each for actor in actors for each in awaited_playbacks(actor.call)]
        rung = [leg for actor in actors for leg in legs_being_dialled(actor.outbox)]
        recorded = [name for actor in actors if (name := active_voicemail(actor.call))]
        return await take_snapshot(self._pbx, waited_for, rung, recorded)

    def _take_up(self, desk: CallShard, actors: list[Actor], seen: PbxSnapshot) -> None:
        now, standstill = self._clock.now_ms(), desk.pause_buffer
        waiting, last = standstill.first_digits_after_gap(), standstill.last_digits_before_gap()
        for actor in actors:
            keys = missing_digits(actor.call, self._heard(), waiting)
            standstill.insert_missed(actor, digits_in_gap(keys, last, now))
            redo, events = reconcile(actor.call, tuple(actor.outbox), seen, now, keys)
            desk.recover_call(actor, redo, events)
        desk.resume()
