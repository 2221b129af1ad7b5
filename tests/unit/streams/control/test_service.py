"""The time of streams, and their end with the gateway, in virtual time."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from engine.common.lookups import Lookups
from streams.bots.destinations import DestinationLookups, Destinations
from streams.bots.limits import Accounts
from streams.bots.protocols.protocol import StreamName
from streams.bots.protocols.protocols import protocol_of
from streams.control.reports import ReportHub
from streams.control.service import FORGET_TICKS, TICK_S, StreamService
from streams.control.table import KEPT_ENDED_MS, NoRoom, Room, StreamTable
from streams.stream.context import StreamContext
from streams.stream.metrics import StreamMetrics
from streams.stream.stream import Stream
from streams.stream.voice import VoiceJudges
from tests.harness.executors import InlineExecutor
from tests.harness.virtual_time import virtual_time
from tests.unit.streams.fixed_model import FixedModel
from tests.unit.streams.recording_links import RecordingBot, RecordingPbx
from wire.streams.reports import StreamEnded
from wire.streams.setup import BotAddress, StreamSetup


class CountedStream(Stream):
    """A stream that counts its ticks, and may fail."""

    ticks = 0
    fails = False

    def tick(self) -> None:
        if self.fails:
            raise RuntimeError("a fault")
        self.ticks += 1


class Scene:
    """A service whose streams have ends that keep what they get."""

    def __init__(self) -> None:
        executor, trust = InlineExecutor(), ssl.create_default_context()
        self.hub = ReportHub()
        judges = VoiceJudges(lambda _rate: FixedModel(0.9), executor)
        self.context = StreamContext(
            self._now_ms, self._now_ms, self.hub.report, StreamMetrics(), judges, Accounts()
        )
        self.table = StreamTable(self.hub.report, self._now_ms, Room(10))
        lookups = Lookups(lambda _host, _port: [], executor, 1)
        destinations = Destinations(trust, None, trust, DestinationLookups(lookups, lookups))
        self.service = StreamService(self.context, self.table, self.hub, trust, destinations)

    def _now_ms(self) -> float:
        return asyncio.get_running_loop().time() * 1_000

    def add(self, stream_id: str) -> CountedStream:
        """Add a live stream."""
        setup = StreamSetup("ws://pbx/", BotAddress("wss://bot/", "native"), "acme", "c")
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


@virtual_time
async def test_a_fault_ends_its_stream_and_no_other() -> None:
    """The engine learns of it."""
    scene = Scene()
    failing, other = scene.add("failing"), scene.add("other")
    failing.fails = True
    async with scene.running():
        await asyncio.sleep(TICK_S * 10.5)
    (ended,) = scene.ended()
    assert (ended.stream, ended.reason) == ("failing", "bot-lost")
    assert other.ticks == 10


@virtual_time
async def test_old_streams_are_forgotten_now_and_then() -> None:
    """Each is known for ten minutes, and some seconds more."""
    scene = Scene()
    scene.add("a").end("stopped")
    every_s = FORGET_TICKS * TICK_S
    async with scene.running():
        await asyncio.sleep(KEPT_ENDED_MS / 1_000 - every_s / 2)
        assert len(scene.ended()) == 1
        await asyncio.sleep(2 * every_s)
        assert scene.ended() == []


@virtual_time
async def test_a_stop_ends_a_stream_and_then_forgets_it() -> None:
    """An engine requests it again when it has read the end."""
    scene = Scene()
    scene.add("a")
    scene.service.stop("a")
    assert [each.reason for each in scene.ended()] == ["stopped"]
    scene.service.stop("a")
    assert scene.ended() == []


@pytest.mark.parametrize(("ends_s", "reason"), [(1.0, "stopped"), (3.0, "drained")])
@virtual_time
async def test_a_gateway_that_stops_waits_for_its_streams(ends_s: float, reason: str) -> None:
    """It takes no more of them, and ends those that last too long."""
    scene = Scene()
    stream = scene.add("a")
    asyncio.get_running_loop().call_later(ends_s, stream.end, "stopped")
    draining = asyncio.create_task(scene.service.drain(2.0))
    await asyncio.sleep(0.5)
    with pytest.raises(NoRoom):
        scene.table.check_room("acme")
    await draining
    assert [each.reason for each in scene.ended()] == [reason]
    assert asyncio.get_running_loop().time() == min(ends_s, 2.0)
