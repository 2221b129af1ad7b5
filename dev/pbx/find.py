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
        modules_dir=_first(Path("/usr/lib"), "asterisk/modules", "*/asterisk/modules"),
        data_dir=_first(Path("/"), "usr/share/asterisk", "var/lib/asterisk"),
    )


def check_fit(program: str, modules_dir: Path) -> str:
    """Return the version of an installed Asterisk; raises UnfitAsterisk."""
    done = subprocess.run([program, "-V"], check=False, capture_output=True, text=True)
    version = done.stdout.strip()
    found = _VERSION.match(version)
    if found is None or int(found[1]) < MIN_VERSION:
        raise UnfitAsterisk(
            f"{program} says `{version or done.stderr.strip()}`: version {MIN_VERSION} or later is"
            " needed; update it, or choose another with --pbx docker or --pbx debian"
        )
    if missing := missing_modules(modules_dir):
        raise UnfitAsterisk(
            f"{program} lacks modules in {modules_dir}: {', '.join(missing)}; install them, or"
            " choose another Asterisk with --pbx docker or --pbx debian"
        )
    return version


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
    raise NoPbx(f"Asterisk is installed, but not {' or '.join(patterns)} in {base}")


def _ignore(_text: str) -> None: ...
