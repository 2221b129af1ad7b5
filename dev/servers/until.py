"""Waits for conditions: with a timeout and the name of what is waited for."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

MAX_WAIT_S = 30.0  # longer than any step on a busy machine, whose first text takes 10 s


async def until(
    condition: Callable[[], bool | Awaitable[bool]],
    *,
    timeout_s: float = MAX_WAIT_S,
    every_s: float = 0.02,
    what: str | Callable[[], str] = "the condition",
) -> None:
    """Return once the condition holds; raises TimeoutError, naming `what`, after the timeout."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        holds = condition()
        if await holds if inspect.isawaitable(holds) else holds:
            return
        if time.monotonic() >= deadline_s:
            name = what() if callable(what) else what
            raise TimeoutError(f"waited {timeout_s} s for {name}")
        await asyncio.sleep(every_s)
