"""Ends child processes."""

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
