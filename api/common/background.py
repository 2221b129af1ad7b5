"""Background tasks with the lifetime of a context."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

log = structlog.get_logger()


@asynccontextmanager
async def background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a coroutine as a task until the context ends; then cancel it and wait for its end."""
    task = asyncio.create_task(work)
    task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    """Log the error of a task at once: nothing waits for the task until the service ends."""
    if not task.cancelled() and (error := task.exception()):
        log.error("background task failed", task=str(task.get_coro()), exc_info=error)
