"""Reports to engines: in order, and without waiting for one that does not read."""

import asyncio

import msgspec

from streams.control.reports import MAX_WAITING, SETTLE_S, ReportHub, ReportQueue
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
