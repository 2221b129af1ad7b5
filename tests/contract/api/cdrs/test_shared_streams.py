"""Readers of an account share one stream of an engine, as far as it keeps what they need."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from starlette.responses import StreamingResponse

from api.cdrs.live_events import MAX_FRAMES, SILENCE_S, LiveEvents, SharedStream
from api.cdrs.sse_filter import LOST_FRAME, EventIdCipher, SseFilter
from api.common.errors import Forbidden, ServiceUnavailable
from api.engine_client import open_client
from api.http.event_stream import RETRY_FRAME, EventStream, reader_limit
from tests.harness.until import MAX_WAIT_S, until

CIPHER = EventIdCipher(["s" * 32])


class Streams:
    """An engine's event streams: each gets what `send` is given while it is open."""

    def __init__(self) -> None:
        self.opened: list[str] = []  # the Last-Event-ID of each
        self._open: list[web.StreamResponse] = []
        self._over = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve a stream until it is over."""
        response = web.StreamResponse()
        await response.prepare(request)
        self.opened.append(request.headers.get("Last-Event-ID", ""))
        self._open.append(response)
        try:
            await response.write(b":\n\n")
            await self._over.wait()
        finally:
            self._open.remove(response)
        return response

    @property
    def count(self) -> int:
        """The open streams."""
        return len(self._open)

    async def send(self, *numbers: int) -> None:
        """Send events to all open streams."""
        for number in numbers:
            message = b"id: %d\nevent: answered\ndata: %d\n\n" % (number, number)
            for each in self._open:
                await each.write(message)

    def end(self) -> None:
        """End all streams."""
        self._over.set()


class Reader:
    """Reads a response as a web server does."""

    def __init__(self, response: StreamingResponse) -> None:
        assert isinstance(response, EventStream)
        self.response = response
        self._chunks: AsyncIterator[bytes] = cast("Any", response.body_iterator)
        self.last = ""

    async def numbers(self, count: int) -> list[int]:
        """Return the numbers of the next events."""
        found: list[int] = []
        while len(found) < count:
            found += self._parse(await self.chunk())
        return found

    async def chunk(self) -> bytes:
        """Return the next chunk; raises StopAsyncIteration at the end."""
        async with asyncio.timeout(MAX_WAIT_S):
            return await anext(self._chunks)

    def _parse(self, chunk: bytes) -> list[int]:
        fields = [each.partition(": ") for each in chunk.decode().split("\n")]
        ids = [value for name, _, value in fields if name == "id"]
        self.last = ids[-1] if ids else self.last
        return [int(value) for name, _, value in fields if name == "data" and value != "{}"]

    async def close(self) -> None:
        """Disconnect."""
        await self.response._stack.aclose()  # noqa: SLF001 - what the server's cancellation does


@asynccontextmanager
async def engine() -> AsyncIterator[tuple[Streams, LiveEvents]]:
    """Serve an engine's streams, and those of the REST layer."""
    streams = Streams()
    app = web.Application()
    app.add_routes([web.get("/rpc/v1/events", streams.serve)])
    async with TestServer(app) as server, open_client([str(server.make_url(""))], "t") as client:
        yield streams, LiveEvents(client, CIPHER, reader_limit())
        streams.end()


async def allowed() -> Any:
    """Accept the reader."""


async def read(live: LiveEvents, last: str | None = None, account: str = "acme") -> Reader:
    """Open a reader, which has got the first frame."""
    reader = Reader(await live.stream(account, last, allowed))
    assert await reader.chunk() == RETRY_FRAME
    return reader


async def fill(streams: Streams, reader: Reader) -> None:
    """Send more frames than are kept, each with an event, which a reader reads."""
    for number in range(1, MAX_FRAMES + 101):
        await streams.send(number)
        assert await reader.numbers(1) == [number]


async def test_readers_of_an_account_share_a_stream() -> None:
    """Each gets each event with the same id; the last one that leaves ends the stream."""
    async with engine() as (streams, live):
        first, second, other = await read(live), await read(live), await read(live, None, "other")
        assert streams.count == 2
        await streams.send(1, 2, 3)
        for each in (first, second, other):
            assert await each.numbers(3) == [1, 2, 3]
        assert first.last == second.last
        for each in (first, second, other):
            assert streams.count > 0
            await each.close()
        await until(lambda: streams.count == 0, what="the end of the engine's streams")
        again = await read(live)
        await streams.send(4)
        assert await again.numbers(1) == [4]
        await again.close()


async def test_several_readers_open_it_at_once() -> None:
    """They wait for the same opening."""
    async with engine() as (streams, live):
        readers = await asyncio.gather(*(read(live) for _ in range(10)))
        assert streams.count == 1
        for each in readers:
            await each.close()


async def test_a_reader_that_comes_back_soon_gets_what_it_missed() -> None:
    """From the frames that are kept."""
    async with engine() as (streams, live):
        stays, leaves = await read(live), await read(live)
        await streams.send(1)
        assert await stays.numbers(1) == await leaves.numbers(1) == [1]
        await leaves.close()
        await streams.send(2, 3)
        assert await stays.numbers(2) == [2, 3]
        back = await read(live, leaves.last)
        assert await back.numbers(2) == [2, 3]
        assert streams.count == 1
        await back.close()
        await stays.close()


async def test_a_reader_of_older_events_has_its_own_stream() -> None:
    """After an event that is not kept, here of an earlier process."""
    async with engine() as (streams, live):
        stays = await read(live)
        old = await read(live, CIPHER.encrypt(b"7").decode())
        assert streams.opened == ["", "7"]
        await streams.send(8)
        assert await old.numbers(1) == await stays.numbers(1) == [8]
        await old.close()
        assert streams.count >= 1
        await stays.close()


async def test_a_reader_that_lags_continues_with_its_own_stream() -> None:
    """After the last event that it has read."""
    async with engine() as (streams, live):
        slow, quick = await read(live), await read(live)
        await streams.send(0)
        assert await slow.numbers(1) == [0]
        assert await quick.numbers(1) == [0]
        await fill(streams, quick)
        following = asyncio.ensure_future(slow.numbers(1))
        await until(lambda: streams.opened[1:] == ["0"], what="its own stream")
        await streams.send(9_000)
        assert await following == [9_000]
        await slow.close()
        await quick.close()


async def test_a_reader_that_has_read_nothing_gets_a_notice() -> None:
    """It has no place to continue from."""
    async with engine() as (streams, live):
        slow, quick = await read(live), await read(live)
        await fill(streams, quick)
        assert await slow.chunk() == LOST_FRAME
        await slow.close()
        await quick.close()


async def test_all_readers_end_with_the_stream() -> None:
    """They come back with their last ids."""
    async with engine() as (streams, live):
        readers = [await read(live), await read(live)]
        streams.end()
        for each in readers:
            with pytest.raises(StopAsyncIteration):
                await each.chunk()
            await each.close()


async def test_a_reader_whose_key_was_revoked_ends_alone() -> None:
    """Others of the account continue."""
    async with engine() as (streams, live):
        revoked = asyncio.Event()

        async def check() -> Any:
            if revoked.is_set():
                raise Forbidden("revoked", "forbidden")

        stays, leaves = await read(live), Reader(await live.stream("acme", None, check))
        assert await leaves.chunk() == RETRY_FRAME
        revoked.set()
        with pytest.raises(StopAsyncIteration):
            await leaves.chunk()
        await leaves.close()
        await streams.send(1)
        assert await stays.numbers(1) == [1]
        await stays.close()


@pytest.mark.parametrize("error", [aiohttp.ClientPayloadError(), TimeoutError()])
async def test_an_opening_that_fails_is_a_problem(error: Exception) -> None:
    """All who wait for it get one, and none is cancelled as if its own request had ended."""

    @asynccontextmanager
    async def fail() -> AsyncIterator[aiohttp.StreamReader]:
        raise error
        yield  # the shape of a context manager

    shared = SharedStream(SseFilter(CIPHER))
    waiting = (shared.opened(fail) for _ in range(2))
    for found in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(found, ServiceUnavailable)
        assert found.code == "no_engine"


@pytest.mark.parametrize("last", [None, CIPHER.encrypt(b"5").decode()])
async def test_a_reader_of_an_engine_that_hangs(last: str | None) -> None:
    """Its stream ends with its key, although the engine sends nothing and closes nothing."""
    is_revoked, checks = False, 0

    async def check() -> None:
        nonlocal checks
        checks += 1
        if is_revoked:
            raise Forbidden("revoked")

    async with engine() as (_, live):
        reader = Reader(await live.stream("acme", last, check))
        assert await reader.chunk() == RETRY_FRAME
        following = asyncio.create_task(reader.chunk())
        await until(lambda: checks > 0, what="the first check")
        is_revoked = True
        with pytest.raises(StopAsyncIteration):
            async with asyncio.timeout(2 * SILENCE_S):
                await following
        await reader.close()
