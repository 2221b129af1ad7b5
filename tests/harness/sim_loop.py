"""SimLoop: enough of an asyncio loop for tasks, sleeps and timeouts to run on a SimClock."""

import asyncio
import contextvars
import inspect
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

from tests.harness.sim_clock import SimClock, SimTimer


class SimLoop(asyncio.AbstractEventLoop):
    """One life's loop, and the owner of all that this life has to do."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self.broken: list[str] = []  # what escaped from tasks
        self._tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self.is_dead = False  # whether its engine has crashed

    def time(self) -> float:
        """Give seconds."""
        return self._clock.at_ms / 1000

    def get_debug(self) -> bool:
        """Say no: debugging is what the seeds are for."""
        return False

    def call_soon(  # type: ignore[override]  # a SimTimer stands for a Handle
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> SimTimer:
        """Call back before time moves on."""
        del context
        return self._clock.soon(lambda: callback(*args), self)

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> SimTimer:
        """Call back after seconds."""
        del context
        return self._clock.after(delay * 1000, lambda: callback(*args), self)

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> SimTimer:
        """Call back at a second."""
        del context
        return self._clock.at(when * 1000, lambda: callback(*args), self)

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, Any], **_named: Any
    ) -> asyncio.Task[Any]:
        """Run a coroutine."""
        task = asyncio.Task(coro, loop=self)
        self._tasks.add(task)
        return task

    def die(self) -> None:
        """Lose all that was to be done, from this moment on."""
        self.is_dead = True
        self._clock.forget(self)
        self._clock.soon(self._close_unstarted)

    def _close_unstarted(self) -> None:
        for coro in (task.get_coro() for task in self._tasks):
            # One that never ran would complain of it when it is freed.
            if inspect.iscoroutine(coro) and inspect.getcoroutinestate(coro) == inspect.CORO_CREATED:
                coro.close()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what nobody caught; a task that died with its engine is no fault."""
        if error := context.get("exception"):
            self.broken.append(f"{context.get('message')}: {error!r}")

    def is_running(self) -> bool:
        """Say yes: it is asked only from within."""
        return True

    def is_closed(self) -> bool:
        """Say no: it ends with its life."""
        return False

    def enter(self) -> None:
        """Be the loop that `get_running_loop` finds."""
        asyncio._set_running_loop(self)  # noqa: SLF001 - what asyncio offers to event loops


def leave_loop() -> None:
    """Let no loop be found any more."""
    asyncio._set_running_loop(None)  # noqa: SLF001
