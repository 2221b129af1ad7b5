"""The websocket on which an engine gets reports."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog
from aiohttp import web

from streams.control.reports import ReportHub, ReportQueue
from wire.streams.reports import Snapshot

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
