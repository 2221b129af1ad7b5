"""Who typed a command: with `sudo`, the user whose folders and files a lab uses.

Only building a Debian root needs root rights. What root would write, that user could neither read
nor stop afterwards.
"""

import os
import pwd
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_UID = "SUDO_UID"


class Caller(NamedTuple):
    """The user who typed `sudo`."""

    name: str
    uid: int
    gid: int
    home: Path

    def owns(self, path: Path) -> bool:
        return path.exists() and path.stat().st_uid == self.uid

    def can_run_this(self) -> bool:
        """Return whether the user can read this installation, which may be in root's home."""
        return self.can_read(Path(sys.executable)) and self.can_read(Path(__file__))

    def can_read(self, path: Path) -> bool:
        os.seteuid(self.uid)
        try:
            return os.access(path, os.R_OK, effective_ids=True)
        finally:
            os.seteuid(0)

    def make_owner(self, *paths: Path) -> None:
        """Give the user what root has written; a link is not followed."""
        for path in paths:
            if path.exists() and path.lstat().st_uid == 0:
                os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def take_over(self) -> None:
        """Give up root rights for good: this process and its servers belong to the user."""
        os.initgroups(self.name, self.gid)
        os.setgid(self.gid)
        os.setuid(self.uid)


def sudo_caller(environ: Mapping[str, str], folder: Path, own_uid: int) -> Caller | None:
    """Return who typed `sudo` in a folder of their own; None without `sudo`, or elsewhere.

    In a shell that `sudo -i` has started, the folder is root's, and so is the lab.
    """
    given = environ.get(_UID, "")
    if own_uid != 0 or not (given.isascii() and given.isdigit() and int(given)):
        return None
    try:
        found = pwd.getpwuid(int(given))
    except (KeyError, OverflowError):
        return None
    if folder.stat().st_uid != found.pw_uid:
        return None
    return Caller(found.pw_name, found.pw_uid, found.pw_gid, Path(found.pw_dir))


def sudo_command(argv: Sequence[str] = tuple(sys.argv)) -> str:
    """Return the command that repeats this one as root, by its full path: sudo has another PATH."""
    program = Path(argv[0]).absolute()
    start = (sys.executable, "-m", program.parent.name) if program.suffix == ".py" else (program,)
    return shlex.join(("sudo", *map(str, (*start, *argv[1:]))))
