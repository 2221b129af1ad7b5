"""Sets streams up: connects both ends at once, gives them their time, and ends them in order."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

import structlog
from picows import ws_connect

from streams.bots.destinations import Destinations
from streams.bots.dialer import BotUnreachable, PendingConnections
from streams.bots.protocols.jambonz import JambonzProtocol
from streams.bots.protocols.native import NativeProtocol
from streams.bots.protocols.protocol import BotProtocol, StreamName
from streams.bots.protocols.recognizer import RecognizerProtocol
from streams.bots.protocols.twilio import TwilioProtocol
from streams.bots.protocols.vonage import VonageProtocol
from streams.bots.socket import BotSocket
from streams.control.reports import ReportHub
from streams.control.table import StreamTable
from streams.pbx import PbxSocket, PbxUnreachable
from streams.stream.context import StreamContext
from streams.stream.stream import Stream
from wire.decoding.errors import BadInput
from wire.streams.reports import StreamEnded
from wire.streams.setup import Protocol, StreamSetup

log = structlog.get_logger()
TICK_S = 0.01
FORGET_TICKS = 1_000
MAX_PBX_HANDSHAKES = 8  # Asterisk lets ten connections wait; the next is late by a second or three


class StreamService:
    """The streams of a gateway, and the tasks that connect them."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        context: StreamContext,
        table: StreamTable,
        hub: ReportHub,
        pbx_trust: ssl.SSLContext,
        destinations: Destinations,
        *,
        ws_connect: Callable[..., Awaitable[object]] = ws_connect,
    ) -> None:
        self._context = context
        self.table = table
        self._hub = hub
        self._pbx_trust = pbx_trust
        self._destinations = destinations
        self._ws_connect = ws_connect
        self._pending = PendingConnections()
        self._pbx_handshakes = asyncio.Semaphore(MAX_PBX_HANDSHAKES)
        self._tasks: set[asyncio.Task[None]] = set()

    def set_up(self, stream_id: str, setup: StreamSetup) -> bool:
        """Set a stream up; False: it is there already. Raises NoRoom or BadInput."""
        if self.table.has(stream_id):
            return False
        self.table.check_room(setup.account)
        protocol = protocol_of(StreamName(stream_id, setup))
        stream = Stream(stream_id, setup, protocol, self._context, self._end)
        pbx, bot = PbxSocket(stream, self._ws_connect), BotSocket(stream, self._ws_connect)
        stream.attach(pbx, bot)
        self.table.add(stream)
        self._context.metrics.started.table()[setup.bot.protocol] += 1
        log.info("stream started", stream=stream_id, call_id=setup.call_id)
        self._start(self._connect(stream, pbx, bot, protocol.subprotocol))
        return True

    def stop(self, stream_id: str) -> None:
        """End a stream, or forget one that has ended."""
        stream = self.table.live(stream_id)
        if stream is not None:
            stream.end("stopped")
        else:
            self.table.forget(stream_id)

    async def run(self) -> None:
        """Give each stream its time, until cancelled."""
        ticks = 0
        while True:
            await asyncio.sleep(TICK_S)
            self._context.accounts.loop.resume()
            for stream in self.table:
                self._tick(stream)
            ticks += 1
            if ticks % FORGET_TICKS == 0:
                self.table.forget_old()

    def _tick(self, stream: Stream) -> None:
        try:
            stream.tick()
        except Exception:  # a fault here ends one stream, and no other
            log.exception("stream failed", stream=stream.id, call_id=stream.setup.call_id)
            stream.end("bot-lost", "a fault of the gateway, which its log describes")

    async def drain(self, wait_s: float) -> None:
        """Take no more streams; return when there are none, the last ones ended after a time."""
        self.table.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self.table.wait_empty()
        for stream in self.table:
            stream.end("drained")
        await self._hub.settled()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)

    async def _connect(
        self, stream: Stream, pbx: PbxSocket, bot: BotSocket, subprotocol: str
    ) -> None:
        await asyncio.gather(
            self._connect_pbx(stream, pbx), self._connect_bot(stream, bot, subprotocol)
        )

    async def _connect_pbx(self, stream: Stream, pbx: PbxSocket) -> None:
        try:
            async with self._pbx_handshakes:
                await pbx.connect(stream.setup.media_url, self._pbx_trust)
        except PbxUnreachable as error:
            stream.end("pbx-unreachable", str(error))
        if stream.is_ended:
            pbx.close()

    async def _connect_bot(self, stream: Stream, bot: BotSocket, subprotocol: str) -> None:
        try:
            destination = self._destinations.find(stream.setup, subprotocol)
            await bot.connect(destination, self._pending)
        except BotUnreachable as error:
            stream.end(error.reason, str(error), error.http_status)
            return
        if stream.is_ended:
            bot.close()
        else:
            stream.bot_connected()

    def _end(self, stream: Stream, report: StreamEnded) -> None:
        self.table.end(stream, report)
        log.info(
            "stream ended",
            stream=stream.id,
            call_id=stream.setup.call_id,
            reason=report.reason,
            detail=report.detail,
        )
        self._start(self._close_pbx(stream))

    async def _close_pbx(self, stream: Stream) -> None:
        # Its channel is destroyed with it: an engine must know the reason before.
        await self._hub.settled()
        stream.pbx.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("stream task failed", exc_info=error)


PROTOCOLS: Mapping[Protocol, Callable[[StreamName], BotProtocol]] = {
    "twilio": TwilioProtocol,
    "native": NativeProtocol,
    "vonage": VonageProtocol,
    "jambonz": JambonzProtocol,
}


def protocol_of(stream: StreamName) -> BotProtocol:
    """Return the protocol of a new stream; raises BadInput if fields do not fit."""
    setup = stream.setup
    if setup.bot.protocol != "recognizer":
        if setup.recognition is not None:
            raise BadInput("recognition", "only the protocol recognizer has it")
        return PROTOCOLS[setup.bot.protocol](stream)
    if setup.recognition is None:
        raise BadInput("recognition", "the protocol recognizer needs it")
    if not setup.is_fork:
        raise BadInput("isFork", "the protocol recognizer needs a fork")
    return RecognizerProtocol(setup.account, setup.recognition)
