"""Tests on virtual time: whoever waits gets the next timer at once, however busy the machine is."""

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from typing import ParamSpec

P = ParamSpec("P")
Events = list[tuple[selectors.SelectorKey, int]]


class _Selector(selectors.DefaultSelector):
    """A selector that does not wait for a timer, but sets the clock to it."""

    def __init__(self) -> None:
        super().__init__()
        self.at_s = 0.0

    def select(self, timeout: float | None = None) -> Events:
        found: Events = super().select(None if timeout is None else 0)
        if not found and timeout:
            self.at_s += timeout
        return found


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop whose clock begins at 0; for tests without other threads, processes and servers."""

    def __init__(self) -> None:
        self._timers = _Selector()
        super().__init__(self._timers)

    def time(self) -> float:
        """Return seconds."""
        return self._timers.at_s


def virtual_time(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an asynchronous test on virtual time; its fixtures are synchronous."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def body() -> None:
            await test(*args, **kwargs)

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(body())

    return run
