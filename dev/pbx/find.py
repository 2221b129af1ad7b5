"""Finds an Asterisk to run as a process: on the PATH, or in the root of `debian_root.py`."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from dev.errors import NoPbx, UnfitAsterisk
from dev.pbx.debian_root import ensure_root

MIN_VERSION = 20
CONFIG = Path(__file__).parents[2] / "asterisk-config"
_OTHERS = "or choose another Asterisk with --pbx docker or --pbx debian"
_MODULES = (
    *("usr/lib/asterisk/modules", "usr/lib/*/asterisk/modules"),  # of Debian
    *("usr/lib64/asterisk/modules", "usr/local/lib/asterisk/modules"),  # of others, and of a build
)
_VERSION = re.compile(r"Asterisk \D*(\d+)")
_LOADED = re.compile(r"^load = (\w+\.so)$", re.MULTILINE)
_OPTIONAL = ("codec_opus_open_source.so", "res_format_attr_opus.so")  # not offered by default


class Asterisk(Struct, frozen=True):
    """One installed Asterisk: its command, and the folders of its modules and data."""

    command: tuple[str, ...]
    modules_dir: Path
    data_dir: Path


def find_asterisk() -> Asterisk:
    """Return the Asterisk of this machine, building the private root if there is none.

    `SWITCHROOM_PBX=path|debian` selects one.
    """
    choice = os.environ.get("SWITCHROOM_PBX", "")
    program = path_of_asterisk()
    if choice == "path" or (program is not None and choice != "debian"):
        return asterisk_on_path(program)
    return root_asterisk(ensure_root(_ignore))


def path_of_asterisk() -> str | None:
    """Return the program on the PATH, or where Debian installs it."""
    return shutil.which("asterisk", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def asterisk_on_path(program: str | None) -> Asterisk:
    """Return the installed Asterisk, run with jemalloc where that is installed."""
    if program is None:
        raise NoPbx("no asterisk is on the PATH")
    jemalloc = next(Path("/usr/lib").glob("*/libjemalloc.so.2"), None)
    preload = () if jemalloc is None else ("env", f"LD_PRELOAD={jemalloc}")
    return Asterisk(
        command=(*preload, program),
        modules_dir=_first(Path("/"), *_MODULES),
        data_dir=_first(Path("/"), "usr/share/asterisk", "var/lib/asterisk"),
    )


def version_of(program: str) -> str:
    """Return what an installed Asterisk says about its version."""
    done = subprocess.run([program, "-V"], check=False, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip()


def check_version(program: str, version: str) -> None:
    """Raise UnfitAsterisk if a version is too old, or none."""
    found = _VERSION.match(version)
    if found is None or int(found[1]) < MIN_VERSION:
        raise UnfitAsterisk(
            f"{program} says `{version}`: version {MIN_VERSION} or later is needed; update it,"
            f" {_OTHERS}"
        )


def check_modules(modules_dir: Path) -> None:
    """Raise UnfitAsterisk if modules that our configuration loads are not in the folder."""
    if missing := missing_modules(modules_dir):
        raise UnfitAsterisk(
            f"the Asterisk on the PATH lacks modules in {modules_dir}: {', '.join(missing)};"
            f" install them, {_OTHERS}"
        )


def missing_modules(modules_dir: Path) -> Sequence[str]:
    """Return the modules that our configuration loads and the folder lacks."""
    needed = _LOADED.findall((CONFIG / "etc/modules.conf").read_text())
    return [each for each in needed if each not in _OPTIONAL and not (modules_dir / each).exists()]


def root_asterisk(root: Path) -> Asterisk:
    """Return the Asterisk of a Debian root, run by that root's dynamic linker.

    It needs no chroot, no mounts and no privileges.
    """
    libraries = _first(root, "usr/lib/*-linux-gnu")
    linker = _first(root, "usr/lib*/ld-linux-*.so.*")
    return Asterisk(
        command=(
            *(str(linker), "--library-path", str(libraries)),
            *("--preload", str(libraries / "libjemalloc.so.2")),
            str(root / "usr/sbin/asterisk"),
        ),
        modules_dir=libraries / "asterisk/modules",
        data_dir=root / "usr/share/asterisk",
    )


def _first(base: Path, *patterns: str) -> Path:
    for pattern in patterns:
        for found in sorted(base.glob(pattern)):
            return found
    raise NoPbx(
        f"Asterisk is installed, but {base} has no {' or '.join(patterns)}; install them, {_OTHERS}"
    )


def _ignore(_text: str) -> None: ...
