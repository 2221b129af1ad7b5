"""An account's stream from an engine, shared by all readers of the account in this process.

It keeps the latest frames. A reader that is further behind, because it is slow or comes back after
a while, continues with a stream of its own.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress

import aiohttp
from msgspec import Struct

from api.cdrs.live.sse_filter import Frame, SseFilter
from api.engine_client import EngineUnavailable

MAX_FRAMES = 1_000
MAX_BYTES = 1_000_000
SILENCE_S = 2.0  # after which a reader is checked; engines send something each second
OpenSource = Callable[[], AbstractAsyncContextManager[aiohttp.StreamReader]]


class Batch(Struct, frozen=True):
    """What follows a reader's place: frames, and the place after them.

    `frames` is None if some of them are no longer kept.
    """

    place: int
    frames: Sequence[Frame] | None


class SharedStream:
    """The latest frames, numbered from 0; a reader's place is the number of its next frame."""

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
