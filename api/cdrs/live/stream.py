"""Streams an account's call events as server-sent events.

Each reader has its own stream from an engine. Nothing is queued here: a slow reader lags in the
store's stream, and receives a notice when that stream is trimmed before it.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
from starlette.responses import StreamingResponse

from api.cdrs.live.sse_filter import EventIdCipher, SseFilter
from api.engine_client import EngineClient
from api.http.event_stream import (
    COMMENT_FRAME,
    HEARTBEAT_S,
    RETRY_FRAME,
    EventStream,
    ReaderLimit,
    Reauthenticate,
    is_authorized,
)


class LiveEvents:
    """Opens event streams."""

    def __init__(self, engine: EngineClient, cipher: EventIdCipher, readers: ReaderLimit) -> None:
        self._engine = engine
        self._cipher = cipher
        self._readers = readers

    async def stream(
        self, account_id: str, last: str | None, reauthenticate: Reauthenticate
    ) -> StreamingResponse:
        """Stream an account's events from now on, or after a Last-Event-ID.

        The stream ends when `reauthenticate` raises. Raises BadInput for an invalid id.
        """
        headers = {} if last is None else {"Last-Event-ID": self._cipher.decrypt(last)}
        async with AsyncExitStack() as stack:
            stack.enter_context(self._readers.admit(account_id))
            events = self._engine.stream("/events", {"account": account_id}, headers)
            source = await stack.enter_async_context(events)
            chunks = _with_heartbeat(source, SseFilter(self._cipher), reauthenticate)
            open_stack = stack.pop_all()
        return EventStream(chunks, open_stack)


async def _with_heartbeat(
    source: aiohttp.StreamReader, sse_filter: SseFilter, reauthenticate: Reauthenticate
) -> AsyncIterator[bytes]:
    """Yield an engine's events; of its comments, only one per HEARTBEAT_S without events."""
    yield RETRY_FRAME
    sent_s = time.monotonic()
    try:
        async for chunk in source.iter_any():
            if not await is_authorized(reauthenticate):
                return
            events = b"".join(frame for frame in sse_filter.feed(chunk) if frame != COMMENT_FRAME)
            if events or time.monotonic() - sent_s >= HEARTBEAT_S:
                sent_s = time.monotonic()
                yield events or COMMENT_FRAME
    except (aiohttp.ClientError, TimeoutError):
        return  # the reader reconnects with its Last-Event-ID, to another engine
