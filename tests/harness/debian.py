"""Installs missing Debian packages: `python3 debian.py NAME …`.

make runs it before a virtual environment exists, so it imports only the standard library.
"""

import os
import subprocess
import sys
from collections.abc import Sequence


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


def run_apt(*arguments: str) -> None:
    """Run apt-get after any other apt has finished; raises RuntimeError with its output."""
    run(("apt-get", "-o", "DPkg::Lock::Timeout=120", *arguments))


def run(argv: Sequence[str]) -> None:
    """Run a command non-interactively; raises RuntimeError with its output if it fails."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    done = subprocess.run(argv, check=False, capture_output=True, env=env)
    if done.returncode != 0:
        output = (done.stdout + done.stderr).decode(errors="replace")[-3000:]
        raise RuntimeError(f"`{' '.join(argv)}` failed:\n{output}")


def _installed(name: str) -> bool:
    query = ("dpkg-query", "-W", "-f", "${db:Status-Status}", name)
    return subprocess.run(query, check=False, capture_output=True).stdout == b"installed"


if __name__ == "__main__":
    try:
        ensure_packages(*sys.argv[1:])
    except (PermissionError, RuntimeError) as error:
        sys.exit(str(error))
