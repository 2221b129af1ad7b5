"""An account's call events as they happen, as server-sent events.

Each reader has a stream of its own from an engine. Nothing is queued for it here: one that reads
slowly is waited for, so it lags in the store's stream, and is told when that has cut events off.
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

MAX_READERS = 20  # of one account, at this process
HEARTBEAT_S = 10.0
SEND_TIMEOUT_S = 30.0
RETRY_FRAME = b"retry: 1000\n\n"
Reauthenticate = Callable[[], Awaitable[object]]  # lets a reader in again; raises Refused
log = structlog.get_logger()


class LiveEvents:
    """Opens streams for readers, no more than there may be."""

    def __init__(self, engine: EngineClient, seal: EventIdCipher) -> None:
        self._engine = engine
        self._cipher = seal
        self._readers: Counter[str] = Counter()

    async def stream(
        self, account_id: str, last: str | None, door: Reauthenticate
    ) -> StreamingResponse:
        """Follow an account's events from now on, or from a Last-Event-ID, while the door opens.

        Raises BadInput for an id that is not ours.
        """
        if self._readers[account_id] >= MAX_READERS:
            raise TooManyRequests(f"{MAX_READERS} streams are open", retry_after_s=5)
        headers = {} if last is None else {"Last-Event-ID": self._cipher.decrypt(last)}
        async with AsyncExitStack() as house:
            self._readers[account_id] += 1
            house.callback(self._release, account_id)
            told = self._engine.stream("/events", {"account": account_id}, headers)
            engines = await house.enter_async_context(told)
            chunks = _beating(engines, SseFilter(self._cipher), door)
            kept = house.pop_all()
        return EventStream(chunks, kept)

    def _release(self, account_id: str) -> None:
        self._readers[account_id] -= 1


class EventStream(StreamingResponse):
    """Ends when its reader has taken nothing for a while, and lets go of everything then."""

    def __init__(self, chunks: AsyncIterator[bytes], house: AsyncExitStack) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks, media_type="text/event-stream", headers=headers)
        self._stack = house

    async def stream_response(self, send: Send) -> None:
        """See StreamingResponse; each piece has a time in which it must be taken."""

        async def in_time(message: Message) -> None:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send(message)

        async with self._stack:
            try:
                await super().stream_response(in_time)
            except TimeoutError:
                log.info("a reader of live events took nothing, and was let go")


async def _beating(
    told: aiohttp.StreamReader, frames: SseFilter, door: Reauthenticate
) -> AsyncIterator[bytes]:
    """Pass on what an engine tells; of its comments, one that nothing came, only now and then."""
    yield RETRY_FRAME
    beat_s = time.monotonic()
    try:
        async for piece in told.iter_any():
            if not await _opens(door):
                return
            events = b"".join(frame for frame in frames.feed(piece) if frame != COMMENT_FRAME)
            if events or time.monotonic() - beat_s >= HEARTBEAT_S:
                beat_s = time.monotonic()
                yield events or COMMENT_FRAME
    except (aiohttp.ClientError, TimeoutError):
        return  # the reader comes back with its Last-Event-ID, and another engine answers


async def _opens(door: Reauthenticate) -> bool:
    """Tell whether who was let in would be let in now: a key may be revoked, a token ends."""
    try:
        await door()
    except ServiceUnavailable:
        return True  # who can't be looked up now
    except ApiError:
        return False
    return True
