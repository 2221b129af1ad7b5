"""Who typed a command with `sudo`, and the command that root has to type."""

import sys
from pathlib import Path

from dev.caller import sudo_caller, sudo_command
from dev.errors import RootNeeded


def test_without_sudo_there_is_no_other_user(tmp_path: Path) -> None:
    """Also in root's own shell, for a user who is not root, and with a value that is no id."""
    user_id = tmp_path.stat().st_uid or 1
    assert sudo_caller({}, tmp_path, 0) is None
    for given in ("", "0", "x", "-1", "²", "9" * 30):
        assert sudo_caller({"SUDO_UID": given}, tmp_path, 0) is None
    assert sudo_caller({"SUDO_UID": str(user_id)}, tmp_path, user_id) is None


def test_the_command_for_root_has_the_full_path() -> None:
    """Sudo has another PATH than the user; a module is started by this Python."""
    assert sudo_command(("/home/a b/bin/switchroom", "dev", "up")) == (
        "sudo '/home/a b/bin/switchroom' dev up"
    )
    started = ("/x/switchroom/__main__.py", "dev")
    assert sudo_command(started) == f"sudo {sys.executable} -m switchroom dev"
    assert ", once: `sudo /" in str(RootNeeded("this"))
