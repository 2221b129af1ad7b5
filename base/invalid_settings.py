"""Errors of invalid settings; clients raise them without the imports of whole settings."""

import os
import pwd
from collections.abc import Iterable
from pathlib import Path


class InvalidSettings(Exception):
    """A program does not start with these settings; a line for each error."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


def unreadable(path: Path, error: OSError) -> str:
    """Return the sentence; that of another user's file says how it becomes one's own."""
    if not isinstance(error, PermissionError):
        return f"{path} cannot be read: {(error.strerror or str(error)).lower()}"
    try:
        owner_id = path.stat().st_uid
    except OSError:  # its folder is another user's
        return f"{path} cannot be read: {os.strerror(error.errno or 13).lower()}"
    if owner_id == os.geteuid():
        return f"{path} cannot be read: its mode denies it to you; `chmod 600 {path}`"
    return f'{path} belongs to {_user(owner_id)}: `sudo chown "$USER" {path}` makes it yours'


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
