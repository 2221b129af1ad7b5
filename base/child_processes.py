"""Ends child processes, and has them wait for others."""

import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress


def kill(process: Process) -> None:
    """Send SIGKILL to a child, if it runs.

    `Process.kill` would ask for its status first (`subprocess.Popen.send_signal`). Of a child
    that has just ended, asyncio's own wait would then find none: it would report 255, and warn
    on stderr (`asyncio.ThreadedChildWatcher`).
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def lower_priority(process: Process, niceness: int) -> None:
    """Have a child that has just started wait for others, before it runs its first module."""
    with suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
