"""Named background tasks; a task that fails ends the engine."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any


class Tasks:
    """Owns the running tasks; several may share a name.

    A new task starts only after the cancelled tasks of the same name have ended: two listeners of
    one app, or two writers of one slot, would conflict.
    """

    def __init__(self, on_failure: Callable[[BaseException], None]) -> None:
        self._on_failure = on_failure
        # In the order of their start, in which they are cancelled.
        self._running: dict[str, list[asyncio.Task[None]]] = {}
        self._ending: dict[str, list[asyncio.Task[None]]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine until it ends or its name is cancelled."""
        ending = tuple(self._ending.get(name, ()))
        sequenced = _run_after(ending, work) if ending else work
        task = asyncio.get_running_loop().create_task(sequenced, name=name)
        task.add_done_callback(lambda _task: work.close())  # in case it never started
        self._running.setdefault(name, []).append(task)
        task.add_done_callback(self._on_ended)

    def cancel(self, name: str) -> None:
        """Cancel all tasks of a name without waiting for their end."""
        running = self._running.pop(name, [])
        for task in running:
            task.cancel()
        if running:
            self._ending.setdefault(name, []).extend(running)

    async def end(self, name: str) -> None:
        """Cancel all tasks of a name and wait until they have ended."""
        self.cancel(name)
        await asyncio.gather(*self._ending.get(name, ()), return_exceptions=True)

    async def close(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        for name in tuple(self._running):
            self.cancel(name)
        ending = [task for tasks in self._ending.values() for task in tasks]
        await asyncio.gather(*ending, return_exceptions=True)

    def _on_ended(self, task: asyncio.Task[None]) -> None:
        for tasks in (self._running, self._ending):
            named = tasks.get(task.get_name(), [])
            if task in named:
                named.remove(task)
                if not named:
                    del tasks[task.get_name()]
        if not task.cancelled() and (error := task.exception()):
            self._on_failure(error)


async def _run_after(
    ending: Collection[asyncio.Task[None]], work: Coroutine[Any, Any, None]
) -> None:
    await asyncio.wait(ending)
    await work
