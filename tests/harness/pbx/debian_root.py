"""Builds a private Debian root with Asterisk by debootstrap, for machines without Asterisk.

It is kept in `$SWITCHROOM_CACHE` (default `~/.cache/switchroom`) and shared by all clones. Building
takes half a minute and needs root rights; running does not.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.debian import ensure_packages, run, run_apt

SUITE = "forky"  # Debian 12 and 13 have no Asterisk
NAME = f"root-{SUITE}-1"  # increment when the installed packages change
PACKAGES = ("asterisk", "libjemalloc2")
TOOLS = ("debootstrap", "debian-archive-keyring")
APT_OPTIONS = (
    # a mirror may be a snapshot whose Release file has expired; signatures are still checked
    *("-o", "Acquire::Check-Valid-Until=false"),
    *("-o", "APT::Install-Recommends=false"),
    *("-y", "-qq"),
)


def cache_dir() -> Path:
    """Return SWITCHROOM_CACHE or the default folder, shared by all clones."""
    return Path(os.environ.get("SWITCHROOM_CACHE") or Path.home() / ".cache/switchroom").absolute()


def ensure_root() -> Path:
    """Return the root, building it first if it is missing; a lock admits one builder."""
    root = cache_dir() / NAME
    if root.exists():
        return root
    if os.geteuid() != 0:
        raise PermissionError(f"building {root} needs root rights: run `make up` as root once")
    with _lock(cache_dir()):
        if not root.exists():
            _build(root)
    return root


def _build(root: Path) -> None:
    building = root.with_suffix(".building")
    shutil.rmtree(building, ignore_errors=True)
    _say(f"building {root} (Debian {SUITE} with Asterisk), once on this machine")
    ensure_packages(*TOOLS)
    script = "/usr/share/debootstrap/scripts/sid"  # works for suites newer than debootstrap
    run(("debootstrap", "--variant=minbase", SUITE, str(building), _mirror(), script))
    policy = building / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")  # no service starts on installation
    policy.chmod(0o755)
    inside = ("chroot", str(building), "apt-get", *APT_OPTIONS)
    run((*inside, "update"))
    run((*inside, "install", *PACKAGES))
    run((*inside, "clean"))
    building.rename(root)


def _mirror() -> str:
    """Return the mirror that apt uses on this machine."""
    if not (found := _index_targets()):
        run_apt("update", "-qq")  # labels are known only after the first update
        found = _index_targets()
    if not found:
        raise RuntimeError("apt knows no Debian mirror: install Asterisk, or Docker, yourself")
    return found[0]


def _index_targets() -> list[str]:
    filters = ("Created-By: Packages", "Label: Debian", "Component: main")
    argv = ("apt-get", "indextargets", "--format", "$(REPO_URI)", *filters)
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{NAME}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the system releases it even if this process dies
        yield


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
