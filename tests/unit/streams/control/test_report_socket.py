"""The websocket on which an engine gets reports, in virtual time."""

import asyncio
from typing import Self, cast

import msgspec
from aiohttp import web
from structlog.testing import capture_logs

from streams.control.report_socket import send_reports
from streams.control.reports import MAX_WAITING, ReportHub
from tests.harness.virtual_time import virtual_time
from wire.streams.reports import DrainStarted, Snapshot

SNAPSHOT = Snapshot((), ())


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
