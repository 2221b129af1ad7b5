"""Children that are ended."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from base.child_processes import kill


@pytest.fixture
def _late_watcher() -> Iterator[None]:
    """Let asyncio take the status of a child only in a later turn of the loop."""
    usual = asyncio.get_child_watcher()
    asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
    yield
    asyncio.set_child_watcher(usual)


@pytest.mark.usefixtures("_late_watcher")
async def test_a_child_that_has_just_ended_keeps_its_status() -> None:
    """`Process.kill` took it: asyncio reported 255, and warned on stderr of an import."""
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", "read line; exit 7", stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(b"\n")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - blocks so that the loop has no turn
    kill(process)
    assert await process.wait() == 7
    kill(process)  # nothing is left to end
    assert process.returncode == 7


async def test_a_child_that_runs_is_killed() -> None:
    """Its status names the signal."""
    process = await asyncio.create_subprocess_exec("sleep", "60")
    kill(process)
    assert await process.wait() == -signal.SIGKILL
