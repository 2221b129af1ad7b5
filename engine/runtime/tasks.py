"""Tasks by name, which come and go while the engine runs; one that fails ends the engine."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Tasks:
    """Holds running tasks; several may have one name."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._running: dict[str, set[asyncio.Task[None]]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run something until it ends, or is cancelled by name."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.setdefault(name, set()).add(task)
        task.add_done_callback(self._ended)

    def cancel(self, name: str) -> None:
        """Cancel all of a name; they may end a moment later."""
        for task in self._running.pop(name, set()):
            task.cancel()

    async def end(self, name: str) -> None:
        """Cancel all of a name, and wait for their ends."""
        running = tuple(self._running.get(name, ()))
        self.cancel(name)
        await asyncio.gather(*running, return_exceptions=True)

    async def close(self) -> None:
        """Cancel all, and wait for their ends."""
        running = [task for tasks in self._running.values() for task in tasks]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.get(task.get_name(), set()).discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._failed(error)
