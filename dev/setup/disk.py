"""How much disk is free, and how much files take."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from dev.errors import NoSpace

NEEDED_BYTES = 1_500_000_000  # of a first start


def check_space(folder: Path, needed_bytes: int = NEEDED_BYTES) -> None:
    """Raise NoSpace if the disk of a folder, which need not exist, has too little free."""
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes:
        raise NoSpace(existing, free, needed_bytes)


def used_bytes(folder: Path) -> int:
    """Return the disk space of a folder; what cannot be read counts nothing."""
    total = 0
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            total += used_bytes(Path(entry.path))
        else:
            with suppress(OSError):  # deleted since: servers run in this folder
                total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
