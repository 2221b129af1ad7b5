"""Follows the log files of a lab."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from base.child_processes import kill
from base.exit_status import ExitStatus
from dev.errors import ToolMissing

_LINES = "20"


async def follow(files: Sequence[Path]) -> int:
    """Print the end of the files and what is added to them, until a signal."""
    try:
        tail = await asyncio.create_subprocess_exec("tail", "-n", _LINES, "-F", *map(str, files))
    except FileNotFoundError:
        raise ToolMissing("tail", "install coreutils") from None
    try:
        await tail.wait()
    finally:
        kill(tail)  # Ctrl-C has reached it too
        await tail.wait()
    return ExitStatus.DONE
