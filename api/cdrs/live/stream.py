"""Streams an account's call events as server-sent events.

Readers of an account share a stream from an engine. A reader that is too far behind has one of its
own: a slow reader then lags in the store's stream, and receives a notice when that is trimmed
before it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import aiohttp
from starlette.responses import StreamingResponse

from api.cdrs.live.shared_stream import SILENCE_S, SharedStream
from api.cdrs.live.sse_filter import LOST_FRAME, EventIdCipher, SseFilter
from api.common.account_concurrency import AccountConcurrency
from api.common.errors import ApiError
from api.engine_client import EngineClient
from api.http.event_stream import (
    COMMENT_FRAME,
    HEARTBEAT_S,
    RETRY_FRAME,
    EventStream,
    Reauthenticate,
    is_authorized,
)

CHECK_S = 1.0  # between two checks of a reader's key or token


class LiveEvents:
    """Opens event streams."""

    def __init__(
        self, engine: EngineClient, cipher: EventIdCipher, readers: AccountConcurrency
    ) -> None:
        self._engine = engine
        self._cipher = cipher
        self._readers = readers
        self._shared: dict[str, SharedStream] = {}

    async def stream(
        self, account_id: str, last: str | None, reauthenticate: Reauthenticate
    ) -> StreamingResponse:
        """Stream an account's events from now on, or after a Last-Event-ID.

        The stream ends when `reauthenticate` raises. Raises BadInput for an invalid id.
        """
        position = b"" if last is None else self._cipher.decrypt(last).encode()
        authorized = partial(is_authorized, reauthenticate)
        async with AsyncExitStack() as stack:
            stack.enter_context(self._readers.hold(account_id))
            shared = await stack.enter_async_context(self._share(account_id))
            place = shared.place_after(position) if position else shared.end
            if place is None:
                source = await stack.enter_async_context(self._open(account_id, position))
                chunks = self._read(source)
            else:
                chunks = self._follow(account_id, shared, place, position)
            return EventStream(_checked(chunks, authorized), stack.pop_all())

    @asynccontextmanager
    async def _share(self, account_id: str) -> AsyncIterator[SharedStream]:
        """Yield the account's stream, which is open; the last reader closes it."""
        shared = self._shared.get(account_id)
        if shared is None or shared.is_ended:
            shared = self._shared[account_id] = SharedStream(SseFilter(self._cipher))
        shared.readers += 1
        try:
            await shared.opened(partial(self._open, account_id))
            yield shared
        finally:
            shared.readers -= 1
            if not shared.readers:
                if self._shared.get(account_id) is shared:
                    del self._shared[account_id]
                await shared.close()

    @asynccontextmanager
    async def _open(
        self, account_id: str, position: bytes = b""
    ) -> AsyncIterator[aiohttp.StreamReader]:
        headers = {"Last-Event-ID": position.decode()} if position else {}
        async with self._engine.stream("/events", {"account": account_id}, headers) as source:
            yield source

    async def _follow(
        self, account_id: str, shared: SharedStream, place: int, position: bytes
    ) -> AsyncIterator[bytes]:
        """Yield what the shared stream gets; what it no longer keeps, from a stream of its own."""
        while not shared.is_ended:
            batch = shared.after(place)
            if batch.frames is None:
                async for chunk in self._catch_up(account_id, position):
                    yield chunk
                return
            if batch.frames:
                place = batch.place
                positions = (each.position for each in reversed(batch.frames) if each.position)
                position = next(positions, position)
                yield b"".join(each.text for each in batch.frames)
            else:
                yield b""
                await shared.wait(place)

    async def _catch_up(self, account_id: str, position: bytes) -> AsyncIterator[bytes]:
        if not position:
            yield LOST_FRAME  # nothing was read yet, so there is nothing to continue after
        try:
            async with self._open(account_id, position) as source:
                async for chunk in self._read(source):
                    yield chunk
        except ApiError:
            return  # the reader reconnects with its Last-Event-ID

    async def _read(self, source: aiohttp.StreamReader) -> AsyncIterator[bytes]:
        """Yield an engine's events; an engine without any sends a comment each second."""
        sse_filter = SseFilter(self._cipher)
        while True:
            try:
                async with asyncio.timeout(SILENCE_S):
                    chunk = await source.readany()
            except aiohttp.ClientError:
                return  # the reader reconnects with its Last-Event-ID, to another engine
            except TimeoutError:  # the engine hangs, and readers are checked all the same
                yield b""
                continue
            if not chunk:
                return
            yield sse_filter.feed(chunk).text


async def _checked(
    chunks: AsyncIterator[bytes], authorized: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """Yield chunks while the reader is authorized; a comment per HEARTBEAT_S without any."""
    yield RETRY_FRAME
    sent_s, checked_s = time.monotonic(), 0.0
    async for chunk in chunks:
        now_s = time.monotonic()
        if now_s - checked_s >= CHECK_S:
            checked_s = now_s
            if not await authorized():
                return
        if chunk or now_s - sent_s >= HEARTBEAT_S:
            sent_s = now_s
            yield chunk or COMMENT_FRAME
