"""Counts the connections in use, so that closing a database can wait for them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class ConnectionUse:
    """How many connections are in use, and a wait until none is."""

    def __init__(self) -> None:
        self.count = 0
        self._unused = asyncio.Event()
        self._unused.set()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a connection for as long as the context lasts, from its opening to its return."""
        self.count += 1
        self._unused.clear()
        try:
            yield
        finally:
            self.count -= 1
            if not self.count:
                self._unused.set()

    async def wait_until_unused(self, timeout_s: float) -> bool:
        """Wait until no connection is in use; return False after the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._unused.wait()
        except TimeoutError:
            return False
        return True
