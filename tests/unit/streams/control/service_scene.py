"""A service of streams between ends that keep what they get, or a network that a test scripts."""

import asyncio
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from picows import WSListener

from base.lookups import Lookups
from streams.bots.destinations import DestinationLookups, Destinations
from streams.bots.limits import Accounts
from streams.bots.protocols.protocol import StreamName
from streams.control.reports import ReportHub
from streams.control.service import StreamService, protocol_of
from streams.control.table import Room, StreamTable
from streams.stream.context import StreamContext
from streams.stream.metrics import StreamMetrics
from streams.stream.stream import Stream
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.unit.streams.fixed_model import FixedModel
from tests.unit.streams.recording_links import RecordingBot, RecordingPbx
from tests.unit.streams.scripted_handshake import ScriptedHandshake
from wire.streams.reports import StreamEnded
from wire.streams.setup import BotAddress, StreamSetup

PBX, BOT = "ws://pbx/", "wss://bot/"


class CountedStream(Stream):
    """A stream that counts its ticks, and may fail."""

    ticks = 0
    fails = False

    def tick(self) -> None:
        if self.fails:
            raise RuntimeError("a fault")
        self.ticks += 1


class CountedTable(StreamTable):
    """A table that counts how often old streams are forgotten."""

    cleanings = 0

    def forget_old(self) -> None:
        self.cleanings += 1
        super().forget_old()


class Network:
    """What happens at each address; handshakes are accepted otherwise."""

    def __init__(self) -> None:
        self.at = defaultdict[str, ScriptedHandshake](ScriptedHandshake)

    async def connect(self, listener: Callable[[], WSListener], url: str, **options: Any) -> None:
        """Do what picows.ws_connect does."""
        await self.at[url].connect(listener, url, **options)


class Scene:
    """A service, the hub of its reports, and its network."""

    def __init__(self, hub: ReportHub | None = None) -> None:
        executor, self.trust = InlineExecutor(), ssl.create_default_context()
        self.hub, self.metrics, self.network = hub or ReportHub(), StreamMetrics(), Network()
        judges = VoiceJudges(lambda _rate: FixedModel(0.9), executor)
        self.context = StreamContext(
            self._now_ms,
            self._now_ms,
            self.hub.report,
            self.metrics,
            judges,
            Accounts(lambda: self._now_ms() / 1_000),
        )
        self.table = CountedTable(self.hub.report, self._now_ms, Room(10))
        lookups = Lookups(lambda _host, _port: [], executor, 1)
        destinations = Destinations(
            self.trust, None, self.trust, DestinationLookups(lookups, lookups)
        )
        self.service = StreamService(
            self.context,
            self.table,
            self.hub,
            self.trust,
            destinations,
            ws_connect=self.network.connect,
        )

    def _now_ms(self) -> float:
        return asyncio.get_running_loop().time() * 1_000

    def setup(self, **changes: Any) -> StreamSetup:
        """Return what sets a stream up."""
        return StreamSetup(PBX, BotAddress(BOT, "native"), "acme", "c", **changes)

    def add(self, stream_id: str) -> CountedStream:
        """Add a live stream."""
        setup = self.setup()
        protocol = protocol_of(StreamName(stream_id, setup))
        stream = CountedStream(stream_id, setup, protocol, self.context, self.table.end)
        stream.attach(RecordingPbx(), RecordingBot())
        self.table.add(stream)
        return stream

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Give streams their time while the context lasts."""
        task = asyncio.create_task(self.service.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    def ended(self) -> list[StreamEnded]:
        """Return the reports of streams that are not forgotten."""
        return [*self.table.snapshot().ended]
