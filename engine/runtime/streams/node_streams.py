"""The streams of one PBX node: starts, messages and ends them, and passes reports to their calls.

Every command may come twice, from two engines: the ids of channels, streams and messages make the
second one harmless.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

import msgspec
import structlog
from msgspec import Struct

from engine.ari.generated.models import Channel
from engine.ari.generated.operations import channels
from engine.ari.request import OnReply, Reply, Request, ask
from engine.calls.model.call import Call
from engine.calls.model.call_id_format import call_of, shard_of
from engine.calls.model.events import Event
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream, StreamCommand
from engine.calls.model.stream_events import StreamConnected, StreamEnded, StreamEvent
from engine.common.tasks import cancel_all
from engine.runtime.base.interfaces import Pbx
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.memory import StreamMemory
from engine.runtime.streams.message_sender import MessageSender
from engine.runtime.streams.reports import translate
from engine.runtime.streams.setup import SetupFactory, channel_format
from engine.runtime.streams.slot import LeaseLost, StreamSlot
from engine.store.store import LeaseView
from engine.streams.errors import GatewayUnavailable, StreamRejected
from wire.streams.reports import DrainStarted, Report, Snapshot, StreamReport
from wire.tree import Limits

log = structlog.get_logger()
CONNECTION_VARIABLE = "MEDIA_WEBSOCKET_CONNECTION_ID"
CONFLICT = 409
PBX_RETRIES_S = (0.1, 0.3, 1.0)
_decode_channel = msgspec.json.Decoder(Channel).decode
Done = Callable[[Event | None], None]


class NodeStreams:
    """Implements `StreamRunner` for a node's shards, with a lease each (`FencedStreams`)."""

    def __init__(
        self,
        pbx: Pbx,
        pool: GatewayPool,
        shards: Mapping[int, CallShard],
        setups: SetupFactory,
        limits: Limits,
    ) -> None:
        self._pbx = pbx
        self._pool = pool
        self._shards = shards
        self._setups = setups
        self._limits = limits
        self._running: dict[str, asyncio.Task[Event | None]] = {}
        self._done: dict[str, Done] = {}
        self._memory = StreamMemory()
        self._messages = MessageSender(pool)

    @property
    def gateways(self) -> tuple[Gateway, ...]:
        """The gateways beside the node, available or not."""
        return self._pool.gateways

    def run(self, command: StreamCommand, call: Call, done: Done, slot: StreamSlot) -> None:
        """Run a command and call `done` with its result; one that runs already is not started.

        When the slot's lease ends, the command stays in the outbox of its call.
        """
        key = f"{slot.lease.token} {_key(command)}"  # one under an earlier lease ends by itself
        self._done[key] = done
        if key in self._running:
            return
        task = asyncio.get_running_loop().create_task(self._result(command, call, slot))
        self._running[key] = task
        task.add_done_callback(partial(self._on_done, key, command))

    def recover(self, shard: CallShard) -> None:
        """Repeat what gateways have reported of the streams of a shard's calls."""
        for live_call in list(shard.calls.values()):
            for stream in live_call.call.streams:
                for event in self._memory.events(stream.id):
                    self._feed(event)

    async def close(self) -> None:
        """Cancel all commands; they stay in the outboxes of their calls."""
        await cancel_all(self._running.values())

    def _on_done(self, key: str, command: StreamCommand, task: asyncio.Task[Event | None]) -> None:
        del self._running[key]
        done = self._done.pop(key)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, LeaseLost):
            return
        if error is not None:
            log.error("stream command failed", stream=command.stream, exc_info=error)
            is_start = isinstance(command, StartStream)
            done(StreamEnded(command.stream, "no-gateway", detail="internal") if is_start else None)
            return
        done(task.result())

    async def _result(self, command: StreamCommand, call: Call, slot: StreamSlot) -> Event | None:
        match command:
            case StartStream():
                return await self._start(command, call, slot)
            case StopStream(stream):
                await self._stop(stream, slot)
                return None
            case SendToStream():
                await self._messages.send(command, slot)
                return None

    async def _start(
        self, command: StartStream, call: Call, slot: StreamSlot
    ) -> StreamEnded | None:
        stream = command.stream
        connection = await self._create_channel(command, slot)
        if connection is None:
            return StreamEnded(stream, "pbx-unreachable", detail="no channel")
        setup = await self._setups.setup(command, call, connection)
        await self._pool.wait_until_tried()
        detail = "no gateway is connected"
        for gateway in self._pool.candidates(stream):
            slot.check()
            try:
                self._pool.assign(stream, gateway)
                await gateway.client.set_up(stream, setup)
            except GatewayUnavailable as error:
                detail = str(error)
            except StreamRejected as error:
                detail = str(error)
                break
            else:
                return None
        self._pool.forget(stream)
        slot.check()
        await self._send_to_pbx(channels.hangup(stream), stream)
        return StreamEnded(stream, "no-gateway", detail=detail)

    async def _create_channel(self, command: StartStream, slot: StreamSlot) -> str | None:
        """Return the id of a channel's websocket; the channel may exist already."""
        reply = await self._ask(
            channels.external_media(
                app=slot.app,
                channel_id=command.stream,
                external_host="INCOMING",
                transport="websocket",
                connection_type="server",
                encapsulation="none",
                format=channel_format(command.data),
                transport_data="f(json)",
            ),
            command.stream,
            slot,
        )
        if reply.status == CONFLICT:
            reply = await self._ask(channels.get(command.stream), command.stream, slot)
        if not reply.ok:
            log.warning("no stream channel", stream=command.stream, status=reply.status)
            return None
        variables = _decode_channel(reply.body).channelvars or {}
        connection = variables.get(CONNECTION_VARIABLE)
        return str(connection) if connection else None

    async def _ask(self, request: Request, stream: str, slot: StreamSlot) -> Reply:
        slot.check()
        reply = await self._send_to_pbx(request, stream)
        for delay_s in PBX_RETRIES_S:
            if reply.status != 0:
                break
            await asyncio.sleep(delay_s)
            slot.check()
            reply = await self._send_to_pbx(request, stream)
        return reply

    async def _send_to_pbx(self, request: Request, stream: str) -> Reply:
        """Send on a websocket that is open: of many new connections at once a PBX loses some."""
        return await ask(_CallRequests(self._pbx, call_of(stream) or stream), request)

    async def _stop(self, stream: str, slot: StreamSlot) -> None:
        known = self._pool.with_stream(stream)
        gateways = [known] if known else [each for each in self._pool.gateways if each.is_connected]
        self._pool.forget(stream)
        self._memory.forget(stream)
        for gateway in gateways:
            slot.check()
            try:
                await gateway.client.end(stream)
            except (GatewayUnavailable, StreamRejected) as error:
                log.info("stream not ended by its gateway", stream=stream, error=str(error))
        await self._ask(channels.hangup(stream), stream, slot)

    def on_report(self, gateway: Gateway, report: Report) -> None:
        """Pass a report to its call."""
        if isinstance(report, Snapshot):
            self._on_snapshot(gateway, report)
        elif isinstance(report, DrainStarted):
            gateway.is_draining = True
        else:
            self._note(translate(report, self._limits))

    def on_gateway_silent(self, gateway: Gateway) -> None:
        """Take its streams for lost, if another gateway can have them; else they may yet go on."""
        if not gateway.streams or not self._pool.has_other(gateway):
            return
        lost, gateway.streams = gateway.streams, set()
        log.warning("stream gateway stands still", streams=len(lost))
        for stream in lost:
            self._note(StreamEnded(stream, "gateway-lost", detail="its gateway does not respond"))

    def _on_snapshot(self, gateway: Gateway, snapshot: Snapshot) -> None:
        """Learn what a gateway has; streams that it should have are lost."""
        gateway.is_draining = snapshot.is_draining
        present = {each.stream for each in snapshot.live} | {each.stream for each in snapshot.ended}
        missing, gateway.streams = gateway.streams - present, set(present)
        for live in snapshot.live:
            if live.is_connected:
                self._note(StreamConnected(live.stream, 0, 0))
            self._repeat(live.transcript)
        for ended in snapshot.ended:
            self._repeat(ended.transcript)
            self._repeat(ended)
        for stream in missing:
            self._note(StreamEnded(stream, "gateway-lost"))

    def _repeat(self, report: StreamReport | None) -> None:
        if report is not None:
            self._note(translate(report, self._limits))

    def _note(self, event: StreamEvent) -> None:
        self._memory.note(event)
        self._feed(event)

    def _feed(self, event: StreamEvent) -> None:
        call_id = call_of(event.stream)
        place = shard_of(call_id) if call_id else None
        shard = self._shards.get(place.slot) if place else None
        live_call = shard.calls.get(call_id) if shard and call_id else None
        if shard is None or live_call is None or live_call.call.stream(event.stream) is None:
            return
        with shard.guard(live_call, "stream report"):
            shard.feed(live_call, event)


class _CallRequests(Struct, frozen=True):
    """Sends requests of one call in order; implements `Transport`."""

    pbx: Pbx
    call_id: str

    def send(self, request: Request, on_reply: OnReply) -> None:
        self.pbx.send(request, self.call_id, False, on_reply)


class FencedStreams:
    """Runs a slot's stream commands as long as its lease holds; implements `StreamRunner`."""

    def __init__(self, streams: NodeStreams, lease: LeaseView, app: str) -> None:
        self._streams = streams
        self._slot = StreamSlot(app, lease)

    def run(self, command: StreamCommand, call: Call, done: Done) -> None:
        if self._slot.lease.holds:
            self._streams.run(command, call, done, self._slot)


def _key(command: StreamCommand) -> str:
    match command:
        case StartStream(stream):
            return f"start {stream}"
        case StopStream(stream):
            return f"stop {stream}"
        case SendToStream(_, message_id):
            return f"send {message_id}"
