"""SimLoop: enough of an asyncio loop to run tasks, sleeps and timeouts on a SimClock."""

import asyncio
import inspect
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from tests.harness.sim.clock import SimClock, SimTimer

T = TypeVar("T")
CANCELLED = SimTimer(lambda: None, (), None)  # returned by a dead loop


class SimLoop:
    """The event loop of one engine, and the owner of its timers.

    It has what asyncio's tasks, futures and timeouts need, but no sockets, threads or processes;
    `as_loop` is the same object typed as an AbstractEventLoop.
    """

    def __init__(self, clock: SimClock) -> None:
        self.as_loop = cast("asyncio.AbstractEventLoop", self)
        self.task_errors: list[str] = []  # uncaught exceptions of tasks
        self.is_dead = False  # whether its engine has crashed
        self._clock = clock
        # In the order of their start: the addresses of tasks differ from run to run.
        self._tasks = weakref.WeakKeyDictionary[asyncio.Task[Any], None]()

    def time(self) -> float:
        """Return seconds."""
        return self._clock.at_ms / 1000

    def get_debug(self) -> bool:
        """Return False: failures are debugged by their seed."""
        return False

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: object = None
    ) -> SimTimer:
        """Schedule a callback before time advances."""
        del context
        return CANCELLED if self.is_dead else self._clock.soon(callback, self, *args)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object, context: object = None
    ) -> SimTimer:
        """Schedule a callback after a delay in s."""
        del context
        return self._clock.after(delay * 1000, callback, self, *args)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: object, context: object = None
    ) -> SimTimer:
        """Schedule a callback at a time in s."""
        del context
        return self._clock.at(when * 1000, callback, self, *args)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self.as_loop)

    def create_task(
        self, coro: Coroutine[Any, Any, T], *, name: str | None = None
    ) -> asyncio.Task[T]:
        task = asyncio.Task(coro, loop=self.as_loop, name=name)
        self._tasks[task] = None
        if self.is_dead:  # started while tasks are closed
            self._clock.soon(self._close, None, [task])
        return task

    async def sleep(self, delay_ms: float) -> None:
        """Sleep for virtual milliseconds."""
        passed = self.create_future()
        self._clock.after(delay_ms, _pass, self, passed)
        await passed

    def die(self) -> None:
        """Cancel all callbacks and close all tasks."""
        self.is_dead = True
        self._clock.forget(self)
        # Keep references until then: a task that nothing wakes any more would be garbage-collected
        # and run its `finally` blocks in the middle of another callback.
        self._clock.soon(self._close, None, list(self._tasks))

    def _close(self, held: list[asyncio.Task[Any]]) -> None:
        for task in dict.fromkeys([*held, *self._tasks]):  # some were started after the crash
            coro = task.get_coro()
            if inspect.iscoroutine(coro):
                _close(coro)  # garbage collection of some crashes the interpreter (3.11)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Collect uncaught exceptions; a task that dies with its engine is no error."""
        if error := context.get("exception"):
            self.task_errors.append(f"{context.get('message')}: {error!r}")

    def enter(self) -> None:
        """Make this the running loop."""
        asyncio._set_running_loop(self.as_loop)  # noqa: SLF001 - the hook that asyncio offers to loops


def _close(coro: Coroutine[Any, Any, Any]) -> None:
    """Close a coroutine, even one that awaits something while it is closed."""
    try:
        coro.close()
    except RuntimeError:
        coro.close()


def _pass(future: asyncio.Future[None]) -> None:
    if not future.done():  # the waiting task may be cancelled by now
        future.set_result(None)


def leave_loop() -> None:
    """Unset the running loop."""
    asyncio._set_running_loop(None)  # noqa: SLF001 - the hook that asyncio offers to loops
