"""Passes the reports of a node's gateways to its calls, and tells them of streams that are lost.

A stream is at one gateway. One that was moved, because its gateway stood still or did not answer
its setup, is ended where it was before, and reports from there are ignored.
"""

from collections.abc import Iterator, Mapping

import structlog

from base.tasks import BackgroundTasks
from engine.calls.model.stream_events import StreamConnected, StreamEnded, StreamEvent
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.memory import StreamMemory
from engine.runtime.streams.reports import translate
from engine.streams.errors import GatewayUnavailable, StreamRejected
from wire.call_id_format import call_of, shard_of
from wire.streams import reports
from wire.streams.reports import DrainStarted, Report, Snapshot, StreamReport
from wire.tree import Limits

log = structlog.get_logger()


class ReportFeed:
    """The reports of one node."""

    def __init__(self, pool: GatewayPool, shards: Mapping[int, CallShard], limits: Limits) -> None:
        self._pool = pool
        self._shards = shards
        self._limits = limits
        self._memory = StreamMemory()
        self._ends = BackgroundTasks()

    def on_report(self, gateway: Gateway, report: Report) -> None:
        """Pass a report to its call."""
        if isinstance(report, Snapshot):
            self._on_snapshot(gateway, report)
            self._pool.announce()
        elif isinstance(report, DrainStarted):
            gateway.is_draining = True
        elif not self._pool.is_of_another(report.stream, gateway):
            self._learn(gateway, report)
            self._note(translate(report, self._limits))

    def on_gateway_silent(self, gateway: Gateway, *, is_dead: bool = False) -> None:
        """Take its streams for lost, if another gateway can have them; else they may yet go on.

        If the gateway is dead, the caller hears silence, so its streams are lost in any case. The
        streams of other engines' calls are left out, because those engines decide. So are the
        streams of a disconnected PBX, because this engine may be cut off from both.
        """
        if not (is_dead or self._pool.has_other(gateway)):
            return
        lost = {each for each in gateway.streams if self._is_judged_here(each)}
        if self._pool.knows_others(gateway):
            lost.update(self._unknown_streams())
        if not lost:
            return
        gateway.streams.difference_update(lost)
        log.warning("stream gateway stands still", streams=len(lost))
        for stream in sorted(lost):
            self._note(StreamEnded(stream, "gateway-lost", detail="its gateway does not respond"))

    def _unknown_streams(self) -> Iterator[str]:
        """Yield the streams of this engine's calls that run at no gateway that is known.

        The engine may have started, or have got the call, when their gateway was silent already.
        """
        for shard in self._shards.values():
            for live_call in shard.calls.values():
                for each in live_call.call.streams:
                    is_running = each.connected_ms and not each.is_lost
                    if is_running and self._pool.with_stream(each.id) is None:
                        yield each.id

    async def wait_until_known(self) -> None:
        """Wait until each gateway has said what it has, or for READY_TIMEOUT_S."""
        await self._pool.wait_until_tried()

    def _is_judged_here(self, stream: str) -> bool:
        place = self._place(stream)
        return place is not None and not place[0].is_paused

    def recover(self, shard: CallShard) -> None:
        """Repeat what gateways have reported of the streams of a shard's calls."""
        for live_call in list(shard.calls.values()):
            for stream in live_call.call.streams:
                for event in self._memory.events(stream.id):
                    self._feed(event)

    def forget(self, stream: str) -> None:
        """Forget a stream that was ended."""
        self._pool.forget(stream)
        self._memory.forget(stream)

    async def close(self) -> None:
        """Cancel what is under way."""
        await self._ends.close()

    def _on_snapshot(self, gateway: Gateway, snapshot: Snapshot) -> None:
        """Learn what a gateway has; streams that it should have are lost."""
        gateway.is_draining, gateway.is_known = snapshot.is_draining, True
        for stale in (each.stream for each in snapshot.live if self._is_stale(gateway, each)):
            self._ends.start(_end_at(gateway, stale))
        live = [each for each in snapshot.live if not self._is_stale(gateway, each)]
        ended = [each for each in snapshot.ended if not self._is_stale(gateway, each)]
        present = {each.stream for each in live} | {each.stream for each in ended}
        missing, gateway.streams = gateway.streams - present, present
        for each in live:
            self._memory.forget(each.stream)  # it may have seemed to be lost
            if each.is_connected:
                self._note(StreamConnected(each.stream, 0, 0))
            self._repeat(each.transcript)
        for last in ended:
            self._repeat(last.transcript)
            self._repeat(last)
        for stream in sorted(missing):
            self._note(StreamEnded(stream, "gateway-lost"))

    def _is_stale(self, gateway: Gateway, reported: StreamReport | reports.LiveStream) -> bool:
        """Return whether a gateway has a stream whose place another one has taken."""
        place = self._place(reported.stream)
        is_replaced = place is not None and place[1].call.stream(reported.stream) is None
        return is_replaced or self._pool.is_of_another(reported.stream, gateway)

    def _learn(self, gateway: Gateway, report: StreamReport) -> None:
        """Learn where a stream is that another engine has started: this one may get its call."""
        if isinstance(report, reports.StreamEnded):
            if self._place(report.stream) is None:
                gateway.streams.discard(report.stream)
        elif not self._is_stale(gateway, report):
            gateway.streams.add(report.stream)

    def _repeat(self, report: StreamReport | None) -> None:
        if report is not None:
            self._note(translate(report, self._limits))

    def _note(self, event: StreamEvent) -> None:
        self._memory.note(event)
        self._feed(event)

    def _feed(self, event: StreamEvent) -> None:
        place = self._place(event.stream)
        if place is None or place[1].call.stream(event.stream) is None:
            return
        shard, live_call = place
        with shard.guard(live_call, "stream report"):
            shard.feed(live_call, event)

    def _place(self, stream: str) -> tuple[CallShard, LiveCall] | None:
        """Return the call of a stream and its shard, if this engine has it."""
        call_id = call_of(stream)
        shard_id = shard_of(call_id) if call_id else None
        shard = self._shards.get(shard_id.slot) if shard_id else None
        live_call = shard.calls.get(call_id) if shard and call_id else None
        return (shard, live_call) if shard and live_call else None


async def _end_at(gateway: Gateway, stream: str) -> None:
    """End a stream that a gateway should not have any more."""
    try:
        await gateway.client.end(stream)
    except (GatewayUnavailable, StreamRejected) as error:
        log.info("stream not ended by its gateway", stream=stream, error=str(error))
