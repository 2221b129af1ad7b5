"""Recovers shards: compares them with a snapshot of the PBX and feeds the missed events.

An exception in one call drops that call; any other is reported, and the recovery continues.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

import structlog
from msgspec import Struct
from msgspec.structs import replace

from base.tasks import cancel_all
from engine.ari.events import timestamp_ms
from engine.ari.generated.models import Channel
from engine.calls.media.awaited_playbacks import awaited_playbacks
from engine.calls.model.call import Call
from engine.calls.model.events import (
    DigitPressed,
    LegCreated,
    LegHeldByPhone,
    LegResumedByPhone,
)
from engine.calls.recovery.missed_digits import DigitsByLeg, digits_in_gap, missing_digits
from engine.calls.recovery.pbx_snapshot import PbxSnapshot, Stranger
from engine.calls.recovery.reconcile import legs_being_dialled, reconcile
from engine.calls.recovery.stray_channels import is_stray
from engine.runtime.base.clock import Clock
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.ari_events import stasis_app, stasis_arguments
from engine.runtime.pbx.snapshot import PbxUnavailable, is_held_by_phone, take_snapshot
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbox import CommandState, PendingCommand
from engine.runtime.shard.shard import CallShard
from wire.call_id_format import call_of

log = structlog.get_logger()
RETRY_DELAY_MS = 1_000
SETTLE_DELAY_MS = 50
MAX_READS = 4  # legs whose holds are read at a time: the requests of calls come first


class BufferedEvents(Struct, frozen=True):
    """The digits of each leg that a paused shard's events tell beside the gap."""

    first_digits: dict[str, DigitPressed]  # of each leg, after the gap
    last_digits: dict[str, DigitPressed]  # of each leg, before the gap


class Recoveries:
    """The running recoveries of one node, at most one per slot."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        pbx: Pbx,
        clock: Clock,
        logged_digits: Callable[[], DigitsByLeg],
        adopt_channel: Callable[[CallShard, Channel], None],
        learn_from_others: Callable[[Sequence[Call]], Awaitable[None]],
        on_recovered: Callable[[CallShard], None],
    ) -> None:
        self._pbx = pbx
        self._clock = clock
        self._logged_digits = logged_digits
        self._adopt_channel = adopt_channel  # for channels that may belong to no call
        self._learn_from_others = learn_from_others  # other engines, and gateways
        self._on_recovered = on_recovered
        self._running: dict[int, asyncio.Task[None]] = {}
        self._hold_readers: dict[int, asyncio.Task[None]] = {}

    def __contains__(self, slot: int) -> bool:
        return slot in self._running

    def begin(self, slot: int, shard: CallShard) -> None:
        """Recover a shard, which stays paused until that is done."""
        if slot not in self._running:
            self.stop(slot)
            task = asyncio.get_running_loop().create_task(self._recover(slot, shard))
            self._running[slot] = task

    def stop(self, slot: int) -> None:
        for tasks in (self._running, self._hold_readers):
            if task := tasks.pop(slot, None):
                task.cancel()

    async def close(self) -> None:
        """Cancel all recoveries and wait until they have ended."""
        await cancel_all([*self._running.values(), *self._hold_readers.values()])

    async def _recover(self, slot: int, shard: CallShard) -> None:
        began_ms, callers = self._clock.now_ms(), set[str]()
        # Let requests in flight arrive: the snapshot must include a playback requested just now.
        await asyncio.sleep(SETTLE_DELAY_MS / 1000)
        while True:
            live_calls = list(shard.calls.values())  # newer calls receive their events
            outboxes = [list(each.outbox) for each in live_calls]
            callers |= shard.callers
            try:
                snapshot, channels = await self._take_snapshot(shard, live_calls)
                await self._learn_from_others([each.call for each in live_calls])
                break
            except PbxUnavailable as error:
                node = shard.context.node
                log.warning("pbx not responding", node=node, slot=slot, error=str(error))
            except Exception:
                log.exception("recovery failed", node=shard.context.node, slot=slot)
                _count_failure(shard)
            await asyncio.sleep(RETRY_DELAY_MS / 1000)
        self._running.pop(slot, None)
        shard.callers -= callers - snapshot.channels.keys()  # their ends were missed
        snapshot = replace(
            snapshot,
            replaced=shard.pause_buffer.replaced_legs(),
            strangers=_answered_strangers(shard, channels),
            last_seen_ms=shard.last_seen_ms,
            new_owner=shard.new_owner,
        )
        self._reconcile(shard, zip(live_calls, outboxes, strict=True), snapshot)
        # Those of a call that has just ended are hung up by the call, as soon as its end is stored.
        ended = {each.call.id for each in live_calls if each.call.is_ended}
        self._adopt_channels(shard, [each for each in channels if call_of(each.id) not in ended])
        self._on_recovered(shard)
        reader = asyncio.get_running_loop().create_task(self._read_holds(shard))
        self._hold_readers[slot] = reader
        took_ms = self._clock.now_ms() - began_ms
        shard.context.metrics.nodes.recovery_duration.series(shard.context.node, slot).observe(
            took_ms / 1000
        )

    async def _take_snapshot(
        self, shard: CallShard, live_calls: list[LiveCall]
    ) -> tuple[PbxSnapshot, tuple[Channel, ...]]:
        playbacks, dialled, recorded = list[str](), list[str](), list[str]()
        for live_call in live_calls:
            with shard.guard(live_call, "snapshot"):
                playbacks += awaited_playbacks(live_call.call)
                dialled += legs_being_dialled(live_call.outbox.commands)
                recorded += filter(None, [live_call.call.state.active_voicemail])
        return await take_snapshot(self._pbx, playbacks, dialled, recorded)

    async def _read_holds(self, shard: CallShard) -> None:
        """Find the holds of phones that began or ended without an event, while the calls go on.

        To wait for a request for each leg would delay all calls (decision 0007).
        """
        await asyncio.sleep(SETTLE_DELAY_MS / 1000)  # callers who have just been found are admitted
        legs = [(each, leg) for each in shard.calls.values() for leg in each.call.legs]
        legs.sort(key=lambda found: not found[1].held_by_phone)  # its party may wait for it
        limit = asyncio.Semaphore(MAX_READS)
        try:
            await asyncio.gather(
                *(self._read_hold(shard, live_call, leg.id, limit) for live_call, leg in legs)
            )
        except Exception:
            log.exception("holds not read", node=shard.context.node)
            _count_failure(shard)

    async def _read_hold(
        self, shard: CallShard, live_call: LiveCall, leg_id: str, limit: asyncio.Semaphore
    ) -> None:
        """Ask for a leg's hold until it agrees with the call.

        An event may overtake the reply, and the reply may be lost.
        """
        while _is_up(live_call.call, leg_id):
            with suppress(PbxUnavailable):
                async with limit:
                    is_held = await is_held_by_phone(self._pbx, leg_id)
                if _is_held(live_call.call, leg_id) == is_held:
                    return
                shard.feed(live_call, (LegHeldByPhone if is_held else LegResumedByPhone)(leg_id))
                if _is_held(live_call.call, leg_id) != is_held:
                    return  # the call is about to end, or the next recovery begins
            await asyncio.sleep(SETTLE_DELAY_MS / 1000)

    def _reconcile(
        self,
        shard: CallShard,
        calls: Iterable[tuple[LiveCall, Sequence[PendingCommand]]],
        snapshot: PbxSnapshot,
    ) -> None:
        buffer = shard.pause_buffer
        buffered = BufferedEvents(
            first_digits=buffer.first_digits_after_gap(),
            last_digits=buffer.last_digits_before_gap(),
        )
        try:
            for live_call, before in calls:
                with shard.guard(live_call, "recovery"):
                    finished = (e.command for e in before if e.state is CommandState.DONE)
                    seen = replace(snapshot, finished=tuple(finished))
                    self._reconcile_call(shard, live_call, seen, buffered)
        finally:
            shard.resume()

    def _adopt_channels(self, shard: CallShard, channels: Iterable[Channel]) -> None:
        for channel in channels:
            try:
                self._adopt_channel(shard, channel)
                _end_stray(shard, channel)
            except Exception:
                log.exception("channel not taken in", channel_id=channel.id)
                _count_failure(shard)

    def _reconcile_call(
        self,
        shard: CallShard,
        live_call: LiveCall,
        snapshot: PbxSnapshot,
        buffered: BufferedEvents,
    ) -> None:
        if live_call.call.is_ended:  # dropped meanwhile
            return
        now = self._clock.now_ms()
        snapshot = replace(_without_known(shard, snapshot), unsent=live_call.unsent_playbacks())
        digits = missing_digits(live_call.call, self._logged_digits(), buffered.first_digits)
        buffer = shard.pause_buffer
        buffer.insert_missed(live_call, digits_in_gap(digits, buffered.last_digits, now))
        redo, events = reconcile(live_call.call, live_call.outbox.commands, snapshot, now, digits)
        shard.recover_call(live_call, redo, events)


def _is_up(call: Call, leg_id: str) -> bool:
    leg = call.leg(leg_id)
    return not call.is_ended and leg is not None and leg.state == "up"


def _is_held(call: Call, leg_id: str) -> bool:
    leg = call.leg(leg_id)
    return leg is not None and leg.held_by_phone


def _end_stray(shard: CallShard, channel: Channel) -> None:
    """Let a call hang up a channel that it gave up, as if it came to be now."""
    live_call = shard.find_by_channel(channel.id)
    if live_call is not None and is_stray(live_call.call, channel.id):
        shard.feed(live_call, LegCreated(channel.id))


def is_unknown(shard: CallShard, channel: Channel) -> bool:
    """Return whether a channel in the shard's app belongs to none of its calls."""
    is_here = stasis_app(channel) == shard.context.endpoints.app
    is_known = shard.find_by_channel(channel.id) is not None or shard.is_left_alone(channel.id)
    return is_here and not is_known


def _answered_strangers(shard: CallShard, channels: tuple[Channel, ...]) -> dict[str, Stranger]:
    """Return the answered channels that belong to no call."""
    found: dict[str, Stranger] = {}
    for channel in channels:
        args = stasis_arguments(channel)
        if channel.state == "Up" and is_unknown(shard, channel):
            dialled = args[1] if args[:1] == ["inbound"] and len(args) > 1 else ""
            found[channel.id] = Stranger(dialled, timestamp_ms(channel.creationtime))
    return found


def _without_known(shard: CallShard, snapshot: PbxSnapshot) -> PbxSnapshot:
    """Return the snapshot without the strangers that another call has recognized."""
    if not snapshot.strangers:
        return snapshot
    left = {e: s for e, s in snapshot.strangers.items() if shard.find_by_channel(e) is None}
    return replace(snapshot, strangers=left)


def _count_failure(shard: CallShard) -> None:
    node, slot = shard.context.node, shard.context.slot
    shard.context.metrics.nodes.recovery_failures.table(node)[str(slot)] += 1
