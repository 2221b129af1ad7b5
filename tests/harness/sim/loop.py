"""SimLoop: enough of an asyncio loop for tasks, sleeps and timeouts to run on a SimClock."""

import asyncio
import inspect
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from tests.harness.sim.clock import SimClock, SimTimer

T = TypeVar("T")
CANCELLED = SimTimer(lambda: None, (), None)  # what the dead want called


class SimLoop:
    """One life's loop, and the owner of all that this life has to do.

    It has what asyncio's tasks, futures and timeouts ask of a loop, and no sockets, threads or
    processes: for an AbstractEventLoop it passes by `as_loop` alone.
    """

    def __init__(self, clock: SimClock) -> None:
        self.as_loop = cast("asyncio.AbstractEventLoop", self)
        self.task_errors: list[str] = []  # what escaped from tasks
        self.is_dead = False  # whether its engine has crashed
        self._clock = clock
        self._tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()

    def time(self) -> float:
        """Give seconds."""
        return self._clock.at_ms / 1000

    def get_debug(self) -> bool:
        """Say no: debugging is what the seeds are for."""
        return False

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: object = None
    ) -> SimTimer:
        """Call back before time moves on."""
        del context
        return CANCELLED if self.is_dead else self._clock.soon(callback, self, *args)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object, context: object = None
    ) -> SimTimer:
        """Call back after seconds."""
        del context
        return self._clock.after(delay * 1000, callback, self, *args)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: object, context: object = None
    ) -> SimTimer:
        """Call back at a second."""
        del context
        return self._clock.at(when * 1000, callback, self, *args)

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future of this loop."""
        return asyncio.Future(loop=self.as_loop)

    def create_task(
        self, coro: Coroutine[Any, Any, T], *, name: str | None = None
    ) -> asyncio.Task[T]:
        """Run a coroutine."""
        task = asyncio.Task(coro, loop=self.as_loop, name=name)
        self._tasks.add(task)
        if self.is_dead:  # begun by what is closed
            self._clock.soon(self._close, None, [task])
        return task

    async def sleep(self, delay_ms: float) -> None:
        """Let that much time pass."""
        passed = self.create_future()
        self._clock.after(delay_ms, _pass, self, passed)
        await passed

    def die(self) -> None:
        """Lose all that was to be done, from this moment on."""
        self.is_dead = True
        self._clock.forget(self)
        # They are held until then: whoever waits is woken by nobody any more, and would be freed,
        # and so run to its end, amid whatever wakes it.
        self._clock.soon(self._close, None, list(self._tasks))

    def _close(self, held: list[asyncio.Task[Any]]) -> None:
        for task in {*held, *self._tasks}:  # some began after the death
            coro = task.get_coro()
            if inspect.iscoroutine(coro):
                _close(coro)  # left to the garbage collector, some crash the interpreter (3.11)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what nobody caught; a task that died with its engine is no fault."""
        if error := context.get("exception"):
            self.task_errors.append(f"{context.get('message')}: {error!r}")

    def enter(self) -> None:
        """Be the loop that `get_running_loop` finds."""
        asyncio._set_running_loop(self.as_loop)  # noqa: SLF001 - what asyncio offers to loops


def _close(coro: Coroutine[Any, Any, Any]) -> None:
    """End a coroutine, also one that waits for something when it is told to end."""
    try:
        coro.close()
    except RuntimeError:
        coro.close()


def _pass(future: asyncio.Future[None]) -> None:
    if not future.done():  # whoever waits may have been cancelled since
        future.set_result(None)


def leave_loop() -> None:
    """Let no loop be found any more."""
    asyncio._set_running_loop(None)  # noqa: SLF001 - likewise
