"""Following one call to its end: its events say when to look, its timeline what there is to see.

An engine may die and come back meanwhile; the call goes on, so the watching does.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import msgspec

from engine.cli.client import Client
from engine.cli.errors import RpcError, Unreachable
from engine.cli.timeline.screen import Screen
from wire.views import Timeline

POLL_INTERVAL_S = 0.5  # digits and playbacks tell no event
RETRY_DELAY_S = 0.5
UNREACHABLE_TIMEOUT_S = 60.0
_PASSING = {"store_down", "no_node", "http_503"}


class EventNotifier:
    """Wakes whoever waits whenever any call told an event."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._is_new = asyncio.Event()
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Listen until cancelled, taking up the stream where it broke."""
        last = ""
        while True:
            with suppress(Unreachable, RpcError, aiohttp.ClientError, msgspec.DecodeError):
                async with self._client.events(last) as events:
                    self.listening.set()
                    async for entry, _event in events:
                        last = entry
                        self._is_new.set()
            self.listening.set()
            await asyncio.sleep(RETRY_DELAY_S)

    async def wait(self) -> None:
        """Return at the next event, or when it is time to look anyway."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_new.wait(), POLL_INTERVAL_S)
        self._is_new.clear()


@asynccontextmanager
async def open_notifier(client: Client) -> AsyncIterator[EventNotifier]:
    """Listen to the events for as long as the context lasts; begun before the call is."""
    news = EventNotifier(client)
    task = asyncio.create_task(news.run())
    try:
        await news.listening.wait()
        yield news
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def follow_to_end(
    client: Client, call_id: str, news: EventNotifier, screen: Screen
) -> Timeline:
    """Show a call until it is over; raises Unreachable when its engine stays away."""
    last: Timeline | None = None
    seen_s = time.monotonic()
    while True:
        try:
            last = await client.timeline(call_id)
        except (Unreachable, RpcError) as error:
            if (
                last is None
                or not _passes(error)
                or time.monotonic() - seen_s > UNREACHABLE_TIMEOUT_S
            ):
                raise
            screen.show(last, f"{error}; the call goes on, waiting")
        else:
            seen_s = time.monotonic()
            screen.show(last)
            if last.call.ended_ms:
                return last
        await news.wait()


def _passes(error: Unreachable | RpcError) -> bool:
    return isinstance(error, Unreachable) or error.problem.code in _PASSING
