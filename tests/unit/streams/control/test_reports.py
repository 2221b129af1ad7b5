"""Reports to engines: in order, and without waiting for one that does not read."""

import asyncio
from typing import Self, cast

import msgspec
from aiohttp import web
from structlog.testing import capture_logs

from streams.control.reports import MAX_WAITING, SETTLE_S, ReportHub, ReportQueue, send_reports
from tests.harness.virtual_time import virtual_time
from wire.streams.reports import DrainStarted, Report, Snapshot

SNAPSHOT = Snapshot((), ())


async def taken(queue: ReportQueue, count: int) -> list[Report]:
    """Return the next reports of an engine."""
    found = [await queue.next() for _ in range(count)]
    return [msgspec.json.decode(each or b"", type=Report) for each in found]


@virtual_time
async def test_each_engine_gets_all_reports() -> None:
    """Those since it began to read, after its snapshot."""
    hub = ReportHub()
    first = hub.subscribe(SNAPSHOT)
    hub.report(DrainStarted())
    second = hub.subscribe(SNAPSHOT)
    waiting = asyncio.create_task(taken(second, 2))
    await asyncio.sleep(0)
    assert hub.engines == 2
    hub.report(DrainStarted())
    assert await taken(first, 3) == [SNAPSHOT, DrainStarted(), DrainStarted()]
    assert await waiting == [SNAPSHOT, DrainStarted()]
    hub.unsubscribe(second)
    hub.unsubscribe(second)
    assert hub.engines == 1


@virtual_time
async def test_an_engine_that_does_not_read_loses_its_connection() -> None:
    """When more reports wait than any engine leaves unread; it reads all of them again."""
    hub = ReportHub()
    queue = hub.subscribe(SNAPSHOT)
    for _ in range(MAX_WAITING - 1):
        hub.report(DrainStarted())
    assert not queue.is_overflown
    hub.report(DrainStarted())
    assert queue.is_overflown
    assert await queue.next() is None


@virtual_time
async def test_the_last_report_is_waited_for() -> None:
    """Until all engines have asked for another one; a slow one is not waited for."""
    hub = ReportHub()
    await hub.settled()
    queue = hub.subscribe(SNAPSHOT)
    hub.report(DrainStarted())
    settled = asyncio.create_task(hub.settled())
    await taken(queue, 2)
    await asyncio.sleep(0)
    assert not settled.done()
    reading = asyncio.create_task(queue.next())
    await settled
    assert asyncio.get_running_loop().time() == 0
    hub.report(DrainStarted())
    await reading
    await hub.settled()
    assert asyncio.get_running_loop().time() == SETTLE_S


class Engine:
    """An engine that reads until it closes; its connection may break before."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.is_broken = False
        self.is_stuck = False
        self._closed = asyncio.Event()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> object:
        await self._closed.wait()
        raise StopAsyncIteration

    async def send_str(self, text: str) -> None:
        if self.is_broken:
            raise ConnectionResetError
        if self.is_stuck:
            await asyncio.sleep(1.0)
        self.read.append(msgspec.json.decode(text)["type"])

    async def close(self) -> None:
        self._closed.set()


def serve(engine: Engine, hub: ReportHub) -> asyncio.Task[None]:
    """Begin to send reports to an engine."""
    socket = cast("web.WebSocketResponse", engine)
    return asyncio.create_task(send_reports(socket, hub, lambda: SNAPSHOT))


@virtual_time
async def test_an_engine_gets_reports_until_it_closes() -> None:
    """A snapshot first; the hub forgets it then."""
    engine, hub = Engine(), ReportHub()
    serving = serve(engine, hub)
    await asyncio.sleep(0.1)
    hub.report(DrainStarted())
    await asyncio.sleep(0.1)
    assert engine.read == ["snapshot", "draining"]
    await engine.close()
    with capture_logs() as logs:
        await serving
    assert (hub.engines, logs) == (0, [])
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


@virtual_time
async def test_an_engine_whose_connection_breaks_is_no_fault() -> None:
    """It connects again."""
    engine, hub = Engine(), ReportHub()
    engine.is_broken = True
    serving = serve(engine, hub)
    await asyncio.sleep(0.1)
    await engine.close()
    await serving
    assert engine.read == []


@virtual_time
async def test_an_engine_that_reads_too_slowly_is_disconnected() -> None:
    """The log says so."""
    engine, hub = Engine(), ReportHub()
    engine.is_stuck = True
    serving = serve(engine, hub)
    await asyncio.sleep(0.1)
    for _ in range(MAX_WAITING + 1):
        hub.report(DrainStarted())
    with capture_logs() as logs:
        await serving
    assert engine.read == ["snapshot"]
    assert [each["event"] for each in logs] == ["engine reads too slowly"]
