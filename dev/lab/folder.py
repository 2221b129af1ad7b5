"""The folder of a lab: its path, who may use it, and the lock that admits one command."""

import asyncio
import fcntl
import os
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from dev.errors import BadOption, LabBusy, UnusableFolder

LOCK_FILE = "lock"
Say = Callable[[str], None]
_WAITS_S = 150.0  # longer than a start
_OTHERS_WRITE = 0o002
# A comment in Asterisk's files, a part of an address, a sign of a shell: each is read by someone.
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff'\"\\$`;?#%<>|&*]")


def normal_folder(given: Path) -> Path:
    """Return the path by which a lab is found again; raises BadOption for one that is unfit."""
    folder = Path(os.path.abspath(given))  # noqa: PTH100 - Path.absolute keeps `..`, of which names of containers follow
    if found := _UNFIT.search(str(folder)):
        raise BadOption(f"--dir: the path has {found[0]!a}, which its programs cannot read")
    return folder


@asynccontextmanager
async def locked(folder: Path, say: Say, waits_s: float = _WAITS_S) -> AsyncIterator[None]:
    """Create a folder and be the only command that starts or stops its servers.

    Two starts would draw different secrets, and lose each other's process ids. It says when it
    waits. Raises LabBusy, UnusableFolder.
    """
    with _opened(folder) as file:
        if not _has_taken(file.fileno()):
            say(f"waiting: another command starts or stops the lab in {folder}")
            deadline_s = time.monotonic() + waits_s
            while not _has_taken(file.fileno()):
                if time.monotonic() >= deadline_s:
                    raise LabBusy(folder)
                await asyncio.sleep(0.1)
        yield


def _opened(folder: Path) -> IO[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_mode & _OTHERS_WRITE:
            raise PermissionError(1, "other users may write to it", str(folder))
        return (folder / LOCK_FILE).open("a")
    except OSError as error:
        raise UnusableFolder(error) from None


def _has_taken(descriptor: int) -> bool:
    """Try to take the lock; the system releases it even if this process dies."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
