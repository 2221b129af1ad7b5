"""Follows one call to its end: events trigger a fetch of its timeline.

The call survives a restart of its engine, and so does the watching.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from cli.client import Client
from cli.errors import RpcError, Unreachable
from cli.timeline.screen import Screen
from wire.views import Timeline

POLL_INTERVAL_S = 0.5  # digits and playbacks have no event
RETRY_DELAY_S = 0.5
UNREACHABLE_TIMEOUT_S = 60.0
_TRANSIENT = {"store_down", "no_node", "unavailable"}


class EventNotifier:
    """Wakes the waiting task at each call event."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._has_event = asyncio.Event()
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Read events until cancelled; resume the stream after errors."""
        last = ""
        while True:
            with suppress(Unreachable, RpcError, msgspec.DecodeError):
                async with self._client.events(last) as events:
                    self.listening.set()
                    async for entry, _event in events:
                        last = entry
                        self._has_event.set()
            self.listening.set()
            await asyncio.sleep(RETRY_DELAY_S)

    async def wait(self) -> None:
        """Return at the next event or after the poll interval."""
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_INTERVAL_S):
                await self._has_event.wait()
        self._has_event.clear()


@asynccontextmanager
async def open_notifier(client: Client) -> AsyncIterator[EventNotifier]:
    """Read events while the context lasts; open it before the call starts."""
    notifier = EventNotifier(client)
    task = asyncio.create_task(notifier.run())
    try:
        await notifier.listening.wait()
        yield notifier
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def follow_to_end(
    client: Client, call_id: str, notifier: EventNotifier, screen: Screen
) -> Timeline:
    """Show a call until it ends; raises Unreachable if its engine stays unreachable."""
    last: Timeline | None = None
    answered_s = time.monotonic()
    while True:
        try:
            last = await client.timeline(call_id)
        except (Unreachable, RpcError) as error:
            if (
                last is None
                or not _is_transient(error)
                or time.monotonic() - answered_s > UNREACHABLE_TIMEOUT_S
            ):
                raise
            screen.show(last, f"{error}; the call continues, waiting")
        else:
            answered_s = time.monotonic()
            screen.show(last)
            if last.call.ended_ms:
                return last
        await notifier.wait()


def _is_transient(error: Unreachable | RpcError) -> bool:
    return isinstance(error, Unreachable) or error.problem.code in _TRANSIENT
