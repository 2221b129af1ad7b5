"""Waiting on conditions: a test never sleeps, it says what it waits for and how long at most."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

SLACK_S = 10.0  # what a busy machine may take beside what a test measures


async def until(
    condition: Callable[[], bool | Awaitable[bool]],
    *,
    timeout_s: float = 10,
    every_s: float = 0.02,
    what: str = "the condition",
) -> None:
    """Return as soon as the condition holds; raises TimeoutError, naming it, if it never does."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        holds = condition()
        if await holds if inspect.isawaitable(holds) else holds:
            return
        if time.monotonic() >= deadline_s:
            raise TimeoutError(f"waited {timeout_s} s for {what}")
        await asyncio.sleep(every_s)
