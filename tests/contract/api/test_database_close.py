"""The end of a database: nothing of it is left, whatever happens to those who use it."""

import asyncio
import gc
import threading
import warnings
from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from api.db.database import Database
from tests.harness.api.databases import sqlite_url
from tests.harness.until import until


async def use(database: Database, held: asyncio.Event, *, writes: bool) -> None:
    """Hold a connection until cancelled."""
    async with database.writing() if writes else database.reading() as connection:
        await connection.execute(text("SELECT 1"))
        held.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("writes", [False, True])
async def test_a_cancelled_user_leaves_no_connection(tmp_path: Path, writes: bool) -> None:
    """`close` waits for a task that was cancelled, and not awaited, as uvicorn does."""
    before = set(threading.enumerate())
    database, held = Database(sqlite_url(tmp_path)), asyncio.Event()
    task = asyncio.create_task(use(database, held, writes=writes))
    await held.wait()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        task.cancel()
        await database.close()
        assert task.done()
        del database
        gc.collect()
        await until(lambda: set(threading.enumerate()) <= before, what="the threads' end")
    assert warned == []


async def test_a_connection_that_is_never_returned(tmp_path: Path) -> None:
    """`close` warns after its timeout instead of waiting for ever."""
    database = Database(sqlite_url(tmp_path))
    async with database.reading() as connection:
        await connection.execute(text("SELECT 1"))
        with capture_logs() as logged:
            await database.close(timeout_s=0.01)
        await connection.invalidate()  # closes it: the pool no longer has it
    assert [(each["event"], each["count"]) for each in logged] == [
        ("database closed with connections in use", 1)
    ]
