"""A lab that was started with `sudo`: whose files it has, and what other commands say to those."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from dev.caller import sudo_caller

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
_READ = """
import os, dotenv
from pathlib import Path
from dev.errors import UnreadableSettings
from dev.lab.env_file import read_file
from cli.errors import UsageError
from cli.options.connection import client_settings
os.seteuid(54321)
try: client_settings(environ={"HOME": "."})
except UsageError as error: print(error)
try: read_file(Path(".env"))
except UnreadableSettings as error: print(error)
"""


def run(program: str, folder: Path) -> list[str]:
    """Run a program in a folder, and return the lines that it prints."""
    return subprocess.check_output(
        [sys.executable, "-c", program], cwd=folder, env={"PYTHONPATH": str(ROOT)}, text=True
    ).splitlines()


def test_after_sudo_a_lab_belongs_to_the_user_who_typed_it(tmp_path: Path) -> None:
    """What root wrote becomes the user's, and what is written afterwards; root's folder is not."""
    user = next(each for each in pwd.getpwall() if each.pw_uid)
    environ = {"SUDO_UID": str(user.pw_uid)}
    assert sudo_caller(environ, tmp_path, 0) is None
    os.chown(tmp_path, user.pw_uid, user.pw_gid)
    caller = sudo_caller(environ, tmp_path, 0)
    assert caller == (user.pw_name, user.pw_uid, user.pw_gid, Path(user.pw_dir))
    assert caller.owns(tmp_path)
    (tmp_path / ".env").touch(0o600)
    assert caller.can_read(Path("/etc/passwd"))
    assert not caller.can_read(tmp_path / ".env")
    assert os.geteuid() == 0
    caller.make_owner(tmp_path / ".env", tmp_path / "none")
    assert (tmp_path / ".env").stat().st_uid == user.pw_uid
    program = (
        "import os; from pathlib import Path; from dev.caller import sudo_caller\n"
        f"sudo_caller({environ}, Path(), 0).take_over()\n"
        "print(*os.getresuid(), *os.getresgid())"
    )
    (printed,) = run(program, tmp_path)
    assert printed.split() == 3 * [str(user.pw_uid)] + 3 * [str(user.pw_gid)]


def test_a_file_of_root_is_named_with_the_remedy(tmp_path: Path) -> None:
    """By the commands of all nouns and those of the lab, as one sentence."""
    tmp_path.chmod(0o755)
    (tmp_path / ".env").touch(0o600)
    expected = '.env belongs to root: `sudo chown "$USER" .env` makes it yours'
    assert run(_READ, tmp_path) == [expected, expected]
