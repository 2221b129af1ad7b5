"""Background tasks of the REST service: they survive errors, and never end silently."""

import asyncio

from structlog.testing import capture_logs

from api.jobs.housekeeping import background, clean_up
from tests.harness.until import until


async def test_a_failed_task_is_logged_at_once() -> None:
    """The log names the task and has the error, although nothing waits for the task yet."""

    async def fail() -> None:
        raise ZeroDivisionError

    with capture_logs() as logged:
        async with background(fail()):
            await until(lambda: bool(logged), what="the log entry", every_s=0.001)
    assert logged[0]["event"] == "background task failed"
    assert "fail" in logged[0]["task"]
    assert isinstance(logged[0]["exc_info"], ZeroDivisionError)


async def test_a_cancelled_task_is_not_logged() -> None:
    """The end of the context is no failure."""
    with capture_logs() as logged:
        async with background(_wait()):
            await asyncio.sleep(0)
    assert logged == []


async def test_cleanup_survives_unexpected_errors() -> None:
    """The error is logged, and rows are deleted again after the interval."""
    runs = 0

    async def fail_once() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise ZeroDivisionError

    with capture_logs() as logged:
        async with background(clean_up(fail_once, interval_s=0.001)):
            await until(lambda: runs > 1, what="the second run", every_s=0.001)
    assert [(each["event"], each["exc_info"]) for each in logged] == [("cleanup failed", True)]


async def _wait() -> None:
    await asyncio.Event().wait()
