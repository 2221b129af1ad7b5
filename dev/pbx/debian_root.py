"""Builds a private Debian root with Asterisk by debootstrap, for machines without Asterisk.

It is kept in `$SWITCHROOM_CACHE` (default `~/.cache/switchroom`) and shared by all clones. Building
takes half a minute and needs root rights; running does not.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.errors import RootNeeded
from dev.setup.debian import ensure_packages, run, run_apt
from dev.setup.disk import check_space, megabytes, used_bytes

SUITE = "forky"  # Debian 12 and 13 have no Asterisk
NAME = f"root-{SUITE}-1"  # increment when the installed packages change
PACKAGES = ("asterisk", "libjemalloc2")
TOOLS = ("debootstrap", "debian-archive-keyring")
DEFAULT_MIRROR = "http://deb.debian.org/debian"  # on Ubuntu, whose apt knows none of Debian
NEEDED_BYTES = 800_000_000
APT_OPTIONS = (
    # a mirror may be a snapshot whose Release file has expired; signatures are still checked
    *("-o", "Acquire::Check-Valid-Until=false"),
    *("-o", "APT::Install-Recommends=false"),
    *("-y", "-qq"),
)
Note = Callable[[str], None]


def cache_dir() -> Path:
    """Return SWITCHROOM_CACHE or the default folder, shared by all clones."""
    return Path(os.environ.get("SWITCHROOM_CACHE") or Path.home() / ".cache/switchroom").absolute()


def root_path() -> Path:
    """Return where the root is, or will be."""
    return cache_dir() / NAME


def ensure_root(note: Note) -> Path:
    """Return the root, building it first if it is missing; a lock admits one builder."""
    root = root_path()
    if root.exists():
        note(str(root))
        return root
    if os.geteuid() != 0:
        raise RootNeeded(f"building {root}, a Debian root with Asterisk,")
    check_space(cache_dir(), NEEDED_BYTES)
    with _lock(cache_dir()):
        if not root.exists():
            _build(root, note)
    return root


def _build(root: Path, note: Note) -> None:
    building = root.with_suffix(".building")
    shutil.rmtree(building, ignore_errors=True)
    ensure_packages(*TOOLS, note=note)
    note(f"building {root} with Asterisk, once on this machine: debootstrap")
    script = "/usr/share/debootstrap/scripts/sid"  # works for suites newer than debootstrap
    run(("debootstrap", "--variant=minbase", SUITE, str(building), _mirror(), script))
    policy = building / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")  # no service starts on installation
    policy.chmod(0o755)
    # a root that is not finished is deleted, so its files need not be on the disk at once
    (building / "etc/dpkg/dpkg.cfg.d/lab").write_text("force-unsafe-io\n")
    inside = ("chroot", str(building), "apt-get", *APT_OPTIONS)
    note(f"building {root} with Asterisk, once on this machine: Asterisk's packages")
    run((*inside, "update"))
    run((*inside, "install", *PACKAGES))
    downloaded = sum(each.stat().st_size for each in building.glob("var/cache/apt/archives/*.deb"))
    run((*inside, "clean"))
    building.rename(root)
    note(f"{megabytes(downloaded)} downloaded, {megabytes(used_bytes(root))} in {root}")


def _mirror() -> str:
    """Return the mirror that apt uses on this machine."""
    if not (found := _index_targets()):
        run_apt("update", "-qq")  # labels are known only after the first update
        found = _index_targets()
    return found[0] if found else DEFAULT_MIRROR


def _index_targets() -> list[str]:
    filters = ("Created-By: Packages", "Label: Debian", "Component: main")
    return run(("apt-get", "indextargets", "--format", "$(REPO_URI)", *filters)).split()


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{NAME}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the system releases it even if this process dies
        yield
