"""Streams an account's call events as server-sent events.

Each reader has its own stream from an engine. Nothing is queued here: a slow reader lags in the
store's stream, and receives a notice when that stream is trimmed before it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import aiohttp
import structlog
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from api.cdrs.live.sse_filter import COMMENT_FRAME, EventIdCipher, SseFilter
from api.common.errors import ApiError, ServiceUnavailable, TooManyRequests
from api.engine_client import EngineClient

MAX_READERS = 20  # of one account, in this process
MAX_ALL_READERS = 200  # of all accounts, in this process
HEARTBEAT_S = 10.0
SEND_TIMEOUT_S = 30.0
RETRY_FRAME = b"retry: 1000\n\n"
Reauthenticate = Callable[[], Awaitable[object]]  # raises ApiError if the reader is not authorized
log = structlog.get_logger()


class LiveEvents:
    """Opens event streams, up to MAX_READERS of an account and MAX_ALL_READERS in all."""

    def __init__(
        self, engine: EngineClient, cipher: EventIdCipher, max_readers: int = MAX_ALL_READERS
    ) -> None:
        self._engine = engine
        self._cipher = cipher
        self._max_readers = max_readers
        self._readers: Counter[str] = Counter()

    async def stream(
        self, account_id: str, last: str | None, reauthenticate: Reauthenticate
    ) -> StreamingResponse:
        """Stream an account's events from now on, or after a Last-Event-ID.

        The stream ends when `reauthenticate` raises. Raises BadInput for an invalid id.
        """
        if self._readers[account_id] >= MAX_READERS:
            raise TooManyRequests(f"{MAX_READERS} streams are open", retry_after_s=5)
        if self._readers.total() >= self._max_readers:
            raise ServiceUnavailable("too many event streams are open", retry_after_s=5)
        headers = {} if last is None else {"Last-Event-ID": self._cipher.decrypt(last)}
        async with AsyncExitStack() as stack:
            self._readers[account_id] += 1
            stack.callback(self._release, account_id)
            events = self._engine.stream("/events", {"account": account_id}, headers)
            source = await stack.enter_async_context(events)
            chunks = _with_heartbeat(source, SseFilter(self._cipher), reauthenticate)
            open_stack = stack.pop_all()
        return EventStream(chunks, open_stack)

    def _release(self, account_id: str) -> None:
        self._readers[account_id] -= 1


class EventStream(StreamingResponse):
    """Closes the engine's stream when the reader disconnects or stops reading."""

    def __init__(self, chunks: AsyncIterator[bytes], stack: AsyncExitStack) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, media_type="text/event-stream", headers=headers)
        self._stack = stack

    async def stream_response(self, send: Send) -> None:
        """See StreamingResponse; each chunk must be sent within a timeout."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send(message)

        async with self._stack:
            try:
                await super().stream_response(send_in_time)
            except TimeoutError:
                log.info("live event reader timed out")


async def _with_heartbeat(
    source: aiohttp.StreamReader, sse_filter: SseFilter, reauthenticate: Reauthenticate
) -> AsyncIterator[bytes]:
    """Yield an engine's events; of its comments, only one per HEARTBEAT_S without events."""
    yield RETRY_FRAME
    sent_s = time.monotonic()
    try:
        async for chunk in source.iter_any():
            if not await _is_authorized(reauthenticate):
                return
            events = b"".join(frame for frame in sse_filter.feed(chunk) if frame != COMMENT_FRAME)
            if events or time.monotonic() - sent_s >= HEARTBEAT_S:
                sent_s = time.monotonic()
                yield events or COMMENT_FRAME
    except (aiohttp.ClientError, TimeoutError):
        return  # the reader reconnects with its Last-Event-ID, to another engine


async def _is_authorized(reauthenticate: Reauthenticate) -> bool:
    """Return whether the reader is still authorized: its key or token may have expired."""
    try:
        await reauthenticate()
    except ServiceUnavailable:
        return True  # unknown: the database is unavailable
    except ApiError:
        return False
    return True
