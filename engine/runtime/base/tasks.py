"""Tasks by name, which come and go while the engine runs; one that fails ends the engine."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any


class Tasks:
    """Holds running tasks; several may have one name.

    What was cancelled has ended before another of its name begins: two listeners of one app, or
    two writers of one slot, would be in each other's way.
    """

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._running: dict[str, set[asyncio.Task[None]]] = {}
        self._ending: dict[str, set[asyncio.Task[None]]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run something until it ends, or is cancelled by name."""
        ending = frozenset(self._ending.get(name, ()))
        after = _after(ending, work) if ending else work
        task = asyncio.get_running_loop().create_task(after, name=name)
        task.add_done_callback(lambda _task: work.close())  # if it never began
        self._running.setdefault(name, set()).add(task)
        task.add_done_callback(self._ended)

    def cancel(self, name: str) -> None:
        """Cancel all of a name; they may end a moment later."""
        running = self._running.pop(name, set())
        for task in running:
            task.cancel()
        if running:
            self._ending.setdefault(name, set()).update(running)

    async def end(self, name: str) -> None:
        """Cancel all of a name, and wait for their ends."""
        self.cancel(name)
        await asyncio.gather(*self._ending.get(name, ()), return_exceptions=True)

    async def close(self) -> None:
        """Cancel all, and wait for their ends."""
        for name in tuple(self._running):
            self.cancel(name)
        ending = [task for tasks in self._ending.values() for task in tasks]
        await asyncio.gather(*ending, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        for tasks in (self._running, self._ending):
            if named := tasks.get(task.get_name()):
                named.discard(task)
                if not named:
                    del tasks[task.get_name()]
        if not task.cancelled() and (error := task.exception()):
            self._failed(error)


async def _after(ending: Collection[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    await asyncio.wait(ending)
    await work
