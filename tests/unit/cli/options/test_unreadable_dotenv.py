"""A `.env` that its reader cannot read: one sentence with the remedy, in all programs."""

import os
from pathlib import Path

from base.invalid_settings import unreadable

DENIED = PermissionError(13, "Permission denied")


def test_a_file_of_root_is_named_with_the_remedy(tmp_path: Path) -> None:
    """The owner, and the command that makes it the user's; a mode of one's own is another case."""
    if os.geteuid():
        path, owner = Path("/etc/passwd"), "root"
    else:
        path, owner = tmp_path / ".env", "user 54321"
        path.touch()
        os.chown(path, 54_321, 54_321)
    expected = f'{path} belongs to {owner}: `sudo chown "$USER" {path}` makes it yours'
    assert unreadable(path, DENIED) == expected
    (tmp_path / "own").touch()
    assert unreadable(tmp_path / "own", DENIED).endswith(f"`chmod 600 {tmp_path / 'own'}`")
    assert unreadable(tmp_path, IsADirectoryError(21, "Is a directory")).endswith(
        "cannot be read: is a directory"
    )
