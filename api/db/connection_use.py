"""The connections in use: one of each task, and a wait until none is.

A task that holds a connection and waits for another one would wait for its account's turn, or for
tasks that do the same; the transaction that it has begun would hold up all others.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class ConnectionUse:
    def __init__(self) -> None:
        self._unused = asyncio.Event()
        self._unused.set()
        self._tasks: set[asyncio.Task[object] | None] = set()

    @property
    def count(self) -> int:
        """How many connections are in use, or waited for."""
        return len(self._tasks)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a connection for as long as the context lasts, from the wait for it to its return.

        Raises RuntimeError if the task has one: what needs both gets the connection as an argument.
        """
        task = asyncio.current_task()
        if task in self._tasks:
            raise RuntimeError("this task holds a connection, and asks for another one")
        self._tasks.add(task)
        self._unused.clear()
        try:
            yield
        finally:
            self._tasks.discard(task)
            if not self._tasks:
                self._unused.set()

    async def wait_until_unused(self, timeout_s: float) -> bool:
        """Wait until no connection is in use; return False after the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._unused.wait()
        except TimeoutError:
            return False
        return True
