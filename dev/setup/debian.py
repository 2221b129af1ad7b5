"""Installs missing Debian packages: `python3 -m dev.setup.debian NAME …`.

make runs it before a virtual environment exists, so it imports only the standard library.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from dev.errors import CommandFailed, LabError, NoNetwork, RootNeeded, ToolMissing

# what apt, debootstrap and pip print when no server can be reached
UNREACHED = re.compile(
    r"temporary failure|could not resolve|failed to establish|network is unreachable"
    r"|unable to connect|could not connect|connection (?:failed|refused|timed out)"
    r"|couldn't download|failed to retrieve|failed getting release|dns error"
    r"|error sending request",
    re.IGNORECASE,
)


def print_note(text: str) -> None:
    """Print what is done now; a start with a progress of its own notes it there instead."""
    sys.stderr.write(f"{text}\n")


def ensure_packages(*names: str, note: Callable[[str], None] = print_note) -> None:
    """Install missing packages; raises RootNeeded with their names without root rights."""
    if shutil.which("dpkg-query") is None:
        raise ToolMissing("dpkg-query", "this is no Debian or Ubuntu")
    missing = [name for name in names if not _installed(name)]
    if not missing:
        return
    if os.geteuid() != 0:
        raise RootNeeded(f"`apt-get install {' '.join(missing)}`")
    note(f"installing {' '.join(missing)}")
    run_apt("update", "-qq")
    run_apt("install", "-y", "-qq", "--no-install-recommends", *missing)


def ensure_unpacked(name: str, folder: Path) -> Path:
    """Return the folder of a package that is unpacked but not installed: no service of it runs."""
    target = folder / name
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        run_apt("update", "-qq")
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        run(("apt-get", "download", "-qq", name), cwd=Path(temporary))
        (archive,) = Path(temporary).glob("*.deb")
        run(("dpkg-deb", "-x", str(archive), f"{temporary}/unpacked"))
        with contextlib.suppress(FileExistsError):  # another process was faster
            Path(temporary, "unpacked").rename(target)
    return target


def run_apt(*arguments: str) -> None:
    """Run apt-get after any other apt has finished; raises CommandFailed with its output."""
    run(("apt-get", "-o", "DPkg::Lock::Timeout=120", *arguments))


def run(argv: Sequence[str], cwd: Path | None = None) -> str:
    """Run a command non-interactively and return its output; raises LabError if it fails."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        done = subprocess.run(argv, check=False, capture_output=True, env=env, cwd=cwd)
    except FileNotFoundError:
        raise ToolMissing(argv[0], "install it, or use another way to run the PBX") from None
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode == 0:
        return output
    if UNREACHED.search(output):
        raise NoNetwork(f"`{argv[0]}` failed")
    raise CommandFailed(argv, output)


def _installed(name: str) -> bool:
    query = ("dpkg-query", "-W", "-f", "${db:Status-Status}", name)
    return subprocess.run(query, check=False, capture_output=True).stdout == b"installed"


if __name__ == "__main__":
    if shutil.which("dpkg-query") is None:
        sys.stderr.write(f"no Debian: not installed are {' '.join(sys.argv[1:])}\n")
        sys.exit()
    try:
        ensure_packages(*sys.argv[1:])
    except LabError as error:
        sys.exit(str(error))
