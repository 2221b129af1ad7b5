"""Sends reports to all engines; one that does not read is disconnected, and connects again."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import msgspec
import structlog
from aiohttp import web

from wire.streams.reports import Report, Snapshot

MAX_WAITING = 10_000  # reports of one engine
SETTLE_S = 0.2


class ReportQueue:
    """The reports of one engine that are not sent yet."""

    def __init__(self) -> None:
        self.is_overflown = False
        self._waiting: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._sent = asyncio.Event()

    def put(self, data: bytes) -> None:
        """Add a report; too many mark the queue as overflown."""
        if len(self._waiting) >= MAX_WAITING:
            self.is_overflown = True
        else:
            self._waiting.append(data)
        self._sent.clear()
        self._arrived.set()

    async def next(self) -> bytes | None:
        """Return the oldest report when there is one; None: the queue is overflown."""
        while not self._waiting:
            self._sent.set()
            self._arrived.clear()
            await self._arrived.wait()
        return None if self.is_overflown else self._waiting.popleft()

    async def wait_sent(self) -> None:
        """Return when the engine has taken all reports."""
        await self._sent.wait()


class ReportHub:
    """Where streams report; engines come and go."""

    def __init__(self) -> None:
        self._queues: set[ReportQueue] = set()

    @property
    def engines(self) -> int:
        return len(self._queues)

    def report(self, report: Report) -> None:
        """Send a report to each engine."""
        data = msgspec.json.encode(report)
        for queue in self._queues:
            queue.put(data)

    def subscribe(self, snapshot: Report) -> ReportQueue:
        """Return the queue of an engine, which begins with a snapshot of now."""
        queue = ReportQueue()
        queue.put(msgspec.json.encode(snapshot))
        self._queues.add(queue)
        return queue

    def unsubscribe(self, queue: ReportQueue) -> None:
        """Forget an engine."""
        self._queues.discard(queue)

    async def settled(self) -> None:
        """Return when engines have taken what was reported so far; a slow one is not awaited."""
        waits = [asyncio.ensure_future(queue.wait_sent()) for queue in self._queues]
        if waits:
            _, pending = await asyncio.wait(waits, timeout=SETTLE_S)
            for each in pending:
                each.cancel()


log = structlog.get_logger()
HEARTBEAT_S = 5.0


async def send_reports(
    socket: web.WebSocketResponse, hub: ReportHub, snapshot: Callable[[], Snapshot]
) -> None:
    """Send a snapshot and all reports after it, until the engine closes, or reads too slowly."""
    queue = hub.subscribe(snapshot())
    sender = asyncio.ensure_future(_send_all(socket, queue))
    try:
        async for _ in socket:
            pass  # engines say nothing here
    finally:
        hub.unsubscribe(queue)
        sender.cancel()
    if queue.is_overflown:
        log.warning("engine reads too slowly")


async def _send_all(socket: web.WebSocketResponse, queue: ReportQueue) -> None:
    with suppress(ConnectionError):  # it connects again
        while (data := await queue.next()) is not None:
            await socket.send_str(data.decode())
        await socket.close()
