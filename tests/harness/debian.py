"""Installs missing Debian packages: `python3 debian.py NAME …`.

make runs it before a virtual environment exists, so it imports only the standard library.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


def ensure_packages(*names: str) -> None:
    """Install missing packages; raises PermissionError with their names without root rights."""
    missing = [name for name in names if not _installed(name)]
    if not missing:
        return
    if os.geteuid() != 0:
        raise PermissionError(f"as root, run: apt-get install {' '.join(missing)}")
    sys.stderr.write(f"installing {' '.join(missing)}\n")
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
    """Run apt-get after any other apt has finished; raises RuntimeError with its output."""
    run(("apt-get", "-o", "DPkg::Lock::Timeout=120", *arguments))


def run(argv: Sequence[str], cwd: Path | None = None) -> None:
    """Run a command non-interactively; raises RuntimeError with its output if it fails."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    done = subprocess.run(argv, check=False, capture_output=True, env=env, cwd=cwd)
    if done.returncode != 0:
        output = (done.stdout + done.stderr).decode(errors="replace")[-3000:]
        raise RuntimeError(f"`{' '.join(argv)}` failed:\n{output}")


def _installed(name: str) -> bool:
    query = ("dpkg-query", "-W", "-f", "${db:Status-Status}", name)
    return subprocess.run(query, check=False, capture_output=True).stdout == b"installed"


if __name__ == "__main__":
    if shutil.which("dpkg-query") is None:
        if shutil.which("docker") is None:
            sys.exit("Debian or Ubuntu is needed, or Docker, in which `make up` runs the lab")
        sys.stderr.write(f"no Debian: not installed are {' '.join(sys.argv[1:])}\n")
        sys.exit()
    try:
        ensure_packages(*sys.argv[1:])
    except (PermissionError, RuntimeError) as error:
        sys.exit(str(error))
