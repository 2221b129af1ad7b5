"""The streams of one PBX node: starts, messages and ends them.

Every command may come twice, from two engines: the ids of channels, streams and messages make the
second one harmless.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import chain, repeat

import structlog

from base.tasks import cancel_all
from engine.calls.model.call import Call
from engine.calls.model.events import Event
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream, StreamCommand
from engine.calls.model.stream_events import StreamEnded
from engine.runtime.streams.channels import LeaseLost, StreamChannels, StreamSlot
from engine.runtime.streams.gateway_client import GatewayUnavailable, StreamRejected
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.report_feed import ReportFeed
from engine.runtime.streams.setup import SetupFactory
from engine.store.store import LeaseView
from wire.streams.recognizer import expected_recognizers

log = structlog.get_logger()
FULL_WAIT_S = 1.0  # then a full gateway is asked again
Done = Callable[[Event | None], None]
RecognizersOf = Callable[[str], Awaitable[tuple[str, ...] | None]]  # an account may name; None: all


class NodeStreams:
    """Implements `StreamRunner` for a node's shards, with a lease each (`FencedStreams`)."""

    def __init__(
        self,
        channels: StreamChannels,
        pool: GatewayPool,
        setups: SetupFactory,
        reports: ReportFeed,
        recognizers_of: RecognizersOf,
    ) -> None:
        self._channels = channels
        self._pool = pool
        self._setups = setups
        self._reports = reports
        self._recognizers_of = recognizers_of
        self._messages = MessageSender(pool)
        self._running: dict[str, asyncio.Task[Event | None]] = {}
        self._done: dict[str, Done] = {}
        self._starts: dict[str, asyncio.Event] = {}  # of streams; set: it has ended

    @property
    def gateways(self) -> tuple[Gateway, ...]:
        """The gateways beside the node, available or not."""
        return self._pool.gateways

    @property
    def reports(self) -> ReportFeed:
        """What gateways report to."""
        return self._reports

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

    async def close(self) -> None:
        """Cancel all commands; they stay in the outboxes of their calls."""
        await cancel_all(self._running.values())
        await self._reports.close()

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
            case StartStream(stream):
                ended = self._starts[stream] = asyncio.Event()
                try:
                    return await self._start(command, call, slot)
                finally:
                    ended.set()
                    if self._starts.get(stream) is ended:
                        del self._starts[stream]
            case StopStream(stream):
                await self._stop(stream, slot)
                return None
            case SendToStream():
                await self._send(command, slot)
                return None

    async def _start(
        self, command: StartStream, call: Call, slot: StreamSlot
    ) -> StreamEnded | None:
        """Let a gateway set a stream up, and wait for one as long as the command says."""
        if refusal := await self._refuse_recognizer(command, call.account):
            return refusal
        stream, loop = command.stream, asyncio.get_running_loop()
        until_s = loop.time() + command.wait_ms / 1000
        while True:
            try:
                return await self._set_up(command, call, slot)
            except StreamRejected as error:
                detail = str(error)
                break
            except GatewayUnavailable as error:
                detail = str(error)
            if loop.time() >= until_s:
                break
            await self._pool.wait_for_news(FULL_WAIT_S)
            slot.check()
            if stream not in self._starts:
                return None  # it was stopped
        self._pool.forget(stream)
        await self._channels.hang_up(stream, slot)
        return StreamEnded(stream, "no-gateway", detail=detail)

    async def _refuse_recognizer(self, command: StartStream, account: str) -> StreamEnded | None:
        """Return the end of a stream to a recognizer that the account may not name.

        This is where all gathers come by, also those of webhooks, flows and bots.
        """
        if command.recognition is None:
            return None
        name, allowed = command.recognition.recognizer, await self._recognizers_of(account)
        if allowed is None or name in allowed:
            return None
        detail = f"recognizer {name}: {expected_recognizers(allowed)}"
        return StreamEnded(command.stream, "bot-refused", detail=detail)

    async def _set_up(
        self, command: StartStream, call: Call, slot: StreamSlot
    ) -> StreamEnded | None:
        """Set a stream up at one of the gateways; raises GatewayUnavailable and StreamRejected."""
        stream, detail = command.stream, ""
        await self._pool.wait_until_tried()
        candidates = self._pool.candidates(stream)
        if not candidates:
            raise GatewayUnavailable("no gateway is connected")
        is_wanted = partial(self._starts.__contains__, stream)
        connection = await self._channels.create(command, slot, is_wanted)
        if connection is None:
            return StreamEnded(stream, "pbx-unreachable", detail="no channel")
        for gateway in candidates:
            setup = await self._setups.setup(command, call, connection)
            slot.check()
            try:
                self._pool.assign(stream, gateway)
                await gateway.client.set_up(stream, setup)
            except GatewayUnavailable as error:
                detail = str(error)
            else:
                return None
        raise GatewayUnavailable(detail)

    async def _stop(self, stream: str, slot: StreamSlot) -> None:
        if self._starts.pop(stream, None):
            self._pool.announce()
        known = self._pool.with_stream(stream)
        gateways = [known] if known else [each for each in self._pool.gateways if each.is_connected]
        self._reports.forget(stream)
        for gateway in gateways:
            slot.check()
            try:
                await gateway.client.end(stream)
            except (GatewayUnavailable, StreamRejected) as error:
                log.info("stream not ended by its gateway", stream=stream, error=str(error))
        await self._channels.hang_up(stream, slot)

    async def _send(self, command: SendToStream, slot: StreamSlot) -> None:
        """Send a message when its stream has started."""
        if start := self._starts.get(command.stream):
            await start.wait()
        await self._messages.send(command, slot)


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


RETRIES_S = (0.1, 0.3, 1.0)
LAST_RETRY_S = 2.0  # from then on, until the stream has ended


class MessageSender:
    """The messages of a node's streams; ids make a repeated one harmless."""

    def __init__(self, pool: GatewayPool) -> None:
        self._pool = pool
        self._last: dict[str, asyncio.Event] = {}  # of each stream: its last message is sent

    async def send(self, command: SendToStream, slot: StreamSlot) -> None:
        """Send a message after those before it; raises LeaseLost."""
        previous, sent = self._last.get(command.stream), asyncio.Event()
        self._last[command.stream] = sent
        try:
            if previous is not None:
                await previous.wait()
            await self._send(command, slot)
        finally:
            sent.set()
            if self._last.get(command.stream) is sent:  # none: a later one was cancelled
                del self._last[command.stream]

    async def _send(self, command: SendToStream, slot: StreamSlot) -> None:
        await self._pool.wait_until_tried()
        for delay_s in chain(RETRIES_S, repeat(LAST_RETRY_S)):
            gateway = self._pool.with_stream(command.stream)
            if gateway is None:
                return  # it has ended
            slot.check()
            try:
                await gateway.client.send(command.stream, command.id, command.message)
            except StreamRejected as error:
                log.warning("message to a stream lost", stream=command.stream, error=str(error))
                return
            except GatewayUnavailable as error:
                log.info("message to a stream waits", stream=command.stream, error=str(error))
            else:
                return
            await asyncio.sleep(delay_s)
