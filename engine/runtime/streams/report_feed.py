"""Passes the reports of a node's gateways to its calls, and tells them of streams that are lost.

A stream is at one gateway. One that was moved, because its gateway stood still or did not answer
its setup, is ended where it was before, and reports from there are ignored.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec
import structlog

from base.tasks import BackgroundTasks
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamActionReceived,
    StreamConnected,
    StreamEnded,
    StreamEvent,
    StreamInterrupted,
    StreamMarkReached,
    StreamSpeechChanged,
)
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.gateway_client import GatewayUnavailable, StreamRejected
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from wire.call_id_format import call_of, shard_of
from wire.decoding.errors import BadInput
from wire.streams import reports
from wire.streams.reports import DrainStarted, Report, Snapshot, StreamReport
from wire.tree import Limits, parse_action

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


# Responses that another try would get, too. A server that is deployed may answer 404, or 5xx; 408,
# 425 and 429 ask for another try.
REFUSALS = frozenset(range(400, 500)) - {404, 408, 425, 429}
MAX_SPEECH_CHARS = 1_000  # a flow keeps no longer values


def translate(report: reports.StreamReport, limits: Limits) -> StreamEvent:
    """Return the call event for a report."""
    match report:
        case reports.StreamConnected(stream, at_ms, connect_ms):
            return StreamConnected(stream, at_ms, connect_ms)
        case reports.SpeechChanged():
            return StreamSpeechChanged(
                report.stream,
                report.by,
                report.is_speaking,
                report.at_ms,
                report.heard_ms,
                report.latency_ms,
            )
        case reports.MarkHeard(stream, name, at_ms, heard_ms, is_cleared):
            return StreamMarkReached(stream, name, at_ms, heard_ms, is_cleared)
        case reports.BargedIn(stream, outcome, at_ms, heard_ms):
            return StreamInterrupted(stream, outcome, at_ms, heard_ms)
        case reports.ActionRequested():
            return _action_event(report, limits)
        case reports.StreamEnded():
            return StreamEnded(
                report.stream,
                "bot-refused" if report.http_status in REFUSALS else report.reason,
                report.heard_ms,
                report.last_mark,
                report.detail,
                report.at_ms,
            )
        case reports.Transcribed(stream, text, confidence, is_voice, at_ms):
            return SpeechUnderstood(stream, text[:MAX_SPEECH_CHARS], confidence, is_voice, at_ms)


def _action_event(report: reports.ActionRequested, limits: Limits) -> StreamActionReceived:
    stream, at_ms, heard_ms = report.stream, report.at_ms, report.heard_ms
    try:
        action = parse_action(msgspec.json.encode(report.action), limits, "action")
    except BadInput as error:
        return StreamActionReceived(stream, None, at_ms, heard_ms, str(error))
    return StreamActionReceived(stream, action, at_ms, heard_ms)


MAX_STREAMS = 10_000
_ORDER = (StreamConnected, SpeechUnderstood, StreamEnded)


class StreamMemory:
    """The last event of each kind that a recovery needs, whichever engine has the call now."""

    def __init__(self) -> None:
        self._last: dict[str, dict[type[StreamEvent], StreamEvent]] = {}

    def note(self, event: StreamEvent) -> None:
        """Remember an event, if a recovery needs it."""
        if not isinstance(event, _ORDER):
            return
        known = self._last.pop(event.stream, {})
        if isinstance(event, SpeechUnderstood) and event.is_noise:
            event = known.get(SpeechUnderstood, event)
        self._last[event.stream] = {**known, type(event): event}
        if len(self._last) > MAX_STREAMS:
            del self._last[next(iter(self._last))]

    def forget(self, stream: str) -> None:
        """Forget a stream that has ended."""
        self._last.pop(stream, None)

    def events(self, stream: str) -> tuple[StreamEvent, ...]:
        """Return the events of a stream in order."""
        known = self._last.get(stream, {})
        return tuple(known[kind] for kind in _ORDER if kind in known)


# Of connections in a row. One alone may have failed because this engine stood still.
SILENT_FAILURES = 2
SILENT_S = 3.0  # since the connection was lost: less may be a restart, or a busy machine
DEAD_S = 15.0  # since then, if no other gateway can take its streams


class GatewayListener:
    """Implements `ReportListener`."""

    def __init__(self, gateway: Gateway, reports: ReportFeed, now_s: Callable[[], float]) -> None:
        self._gateway = gateway
        self._reports = reports
        self._now_s = now_s
        self._lost_s = now_s()
        self._failures = 0

    def on_connected(self) -> None:
        self._gateway.is_connected = True
        self._failures = 0

    def on_report(self, report: Report) -> None:
        self._reports.on_report(self._gateway, report)
        self._gateway.tried.set()  # the first one is its snapshot

    def on_disconnected(self) -> None:
        if self._gateway.is_connected:
            self._lost_s = self._now_s()
        else:
            self._failures += 1
        self._gateway.is_connected = self._gateway.is_known = False
        self._gateway.tried.set()
        silent_s = self._now_s() - self._lost_s
        if self._failures >= SILENT_FAILURES and silent_s >= SILENT_S:
            self._reports.on_gateway_silent(self._gateway, is_dead=silent_s >= DEAD_S)
