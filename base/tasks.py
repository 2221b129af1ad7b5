"""Helpers for tasks and events of asyncio."""

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundTasks:
    """Tasks without a waiter; the event loop itself keeps no reference to a task."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def join(self) -> None:
        """Wait until all tasks have ended."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def close(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        await cancel_all(self._running)


class PendingKeys:
    """The keys of work in flight, and a wait for its end."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    def add(self, key: str) -> None:
        self._keys.add(key)
        self._empty.clear()

    def discard(self, key: str) -> None:
        self._keys.discard(key)
        if not self._keys:
            self._empty.set()

    async def wait_until_empty(self) -> None:
        await self._empty.wait()


async def cancel_all(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait until they have ended."""
    cancelled = tuple(tasks)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)


async def first_found(searches: Iterable[Awaitable[T | None]]) -> T | None:
    """Search at once; return the first result that is not None, and cancel the other searches."""
    tasks = [asyncio.ensure_future(each) for each in searches]
    try:
        for each in asyncio.as_completed(tasks):
            if (found := await each) is not None:
                return found
    finally:
        await cancel_all(tasks)
    return None


async def wait_for_event(event: asyncio.Event, timeout_s: float) -> None:
    """Wait until an event is set, or until the time is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
