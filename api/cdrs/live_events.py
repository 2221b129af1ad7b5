"""Streams an account's call events as server-sent events.

Readers of an account share a stream from an engine. A reader that is too far behind has one of its
own: a slow reader then lags in the store's stream, and receives a notice when that is trimmed
before it.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial

import aiohttp
from msgspec import Struct
from starlette.responses import StreamingResponse

from api.cdrs.sse_filter import LOST_FRAME, EventIdCipher, Frame, SseFilter
from api.common.account_concurrency import AccountConcurrency
from api.common.errors import ApiError
from api.engine_client import EngineClient, EngineUnavailable
from api.http import event_stream

CHECK_S = 1.0  # between two checks of a reader's key or token
MAX_FRAMES = 1_000
MAX_BYTES = 1_000_000
SILENCE_S = 2.0  # after which a reader is checked; engines send something each second
OpenSource = Callable[[], AbstractAsyncContextManager[aiohttp.StreamReader]]


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
        self, account_id: str, last: str | None, reauthenticate: event_stream.Reauthenticate
    ) -> StreamingResponse:
        """Stream an account's events from now on, or after a Last-Event-ID.

        The stream ends when `reauthenticate` raises. Raises BadInput for an invalid id.
        """
        position = b"" if last is None else self._cipher.decrypt(last).encode()
        authorized = partial(event_stream.is_authorized, reauthenticate)
        async with AsyncExitStack() as stack:
            stack.enter_context(self._readers.hold(account_id))
            shared = await stack.enter_async_context(self._share(account_id))
            place = shared.place_after(position) if position else shared.end
            if place is None:
                source = await stack.enter_async_context(self._open(account_id, position))
                chunks = self._read(source)
            else:
                chunks = self._follow(account_id, shared, place, position)
            return event_stream.EventStream(_checked(chunks, authorized), stack.pop_all())

    @asynccontextmanager
    async def _share(self, account_id: str) -> AsyncIterator["SharedStream"]:
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
        self, account_id: str, shared: "SharedStream", place: int, position: bytes
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
    yield event_stream.RETRY_FRAME
    sent_s, checked_s = time.monotonic(), 0.0
    async for chunk in chunks:
        now_s = time.monotonic()
        if now_s - checked_s >= CHECK_S:
            checked_s = now_s
            if not await authorized():
                return
        if chunk or now_s - sent_s >= event_stream.HEARTBEAT_S:
            sent_s = now_s
            yield chunk or event_stream.COMMENT_FRAME


class Batch(Struct, frozen=True):
    """What follows a reader's place: frames, and the place after them.

    `frames` is None if some of them are no longer kept.
    """

    place: int
    frames: Sequence[Frame] | None


class SharedStream:
    """An account's stream from an engine, shared by all readers of the account in this process.

    It keeps the latest frames, numbered from 0; a reader's place is the number of its next frame.
    A reader that is further behind continues with a stream of its own.
    """

    def __init__(self, sse_filter: SseFilter) -> None:
        self.readers = 0
        self.is_ended = False
        self._filter = sse_filter
        self._frames: deque[Frame] = deque()
        self._first = 0
        self._bytes = 0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def end(self) -> int:
        """The place after the latest frame."""
        return self._first + len(self._frames)

    async def opened(self, open_source: OpenSource) -> None:
        """Wait until the engine sends; raises ApiError. The first reader opens it."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(open_source))
        await asyncio.shield(self._opened)

    def place_after(self, position: bytes) -> int | None:
        """Return the place after the frame of a position; None if it is not kept."""
        places = range(self.end, self._first, -1)
        frames = zip(places, reversed(self._frames), strict=True)
        return next((place for place, frame in frames if frame.position == position), None)

    def after(self, place: int) -> Batch:
        """Return the frames from a place on."""
        if place < self._first:
            return Batch(place, None)
        behind = self.end - place
        return Batch(self.end, [self._frames[index] for index in range(-behind, 0)])

    async def wait(self, place: int) -> None:
        """Wait for frames from a place on, the end, or the comment of each second without either.

        The stream may have got them, or ended, since the reader has looked. An engine that hangs
        sends no comment, and readers are checked all the same.
        """
        if not self.is_ended and place == self.end:
            with suppress(TimeoutError):
                async with asyncio.timeout(SILENCE_S):
                    await self._changed.wait()

    async def close(self) -> None:
        """End the engine's stream."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self, open_source: OpenSource) -> None:
        try:
            async with open_source() as source:
                self._opened.set_result(None)
                await self._read(source.iter_any())
        except (aiohttp.ClientError, TimeoutError):
            return  # readers reconnect with their Last-Event-ID, to another engine
        except Exception as error:  # noqa: BLE001 - the reader that waits for the opening raises it
            self._fail_opening(error)
        finally:
            self.is_ended = True
            self._fail_opening(EngineUnavailable("no engine responds", retry_after_s=1))
            self._pulse()

    def _fail_opening(self, error: Exception) -> None:
        """Let those who wait for the opening raise an error, unless it is open or has failed.

        To cancel it would look to them like the end of their own requests.
        """
        if not self._opened.done():
            self._opened.set_exception(error)
            self._opened.exception()  # read: perhaps none waits any more

    async def _read(self, chunks: AsyncIterator[bytes]) -> None:
        async for chunk in chunks:
            frame = self._filter.feed(chunk)
            if frame.text:
                self._keep(frame)
            self._pulse()  # also by the comments of an engine without events
            await asyncio.sleep(0)  # readers take the frame before it is dropped

    def _keep(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._bytes += len(frame.text)
        while len(self._frames) > MAX_FRAMES or self._bytes > MAX_BYTES:
            self._bytes -= len(self._frames.popleft().text)
            self._first += 1

    def _pulse(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
