"""Finds an Asterisk to run: on the PATH, or in the private Debian root of `debian_root.py`."""

import os
import shutil
from pathlib import Path

from msgspec import Struct

from tests.harness.pbx.debian_root import ensure_root


class Asterisk(Struct, frozen=True):
    """One installed Asterisk: its command, and the folders of its modules and data."""

    command: tuple[str, ...]
    modules_dir: Path
    data_dir: Path


def find_asterisk() -> Asterisk:
    """Return the Asterisk of this machine, building the private root if there is none.

    `SWITCHROOM_PBX=native|local` selects one; `docker` concerns only `make up`.
    """
    choice = os.environ.get("SWITCHROOM_PBX", "")
    native = shutil.which("asterisk", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if choice == "native" and native is None:
        raise RuntimeError("SWITCHROOM_PBX=native, but there is no asterisk on the PATH")
    if native is not None and choice != "local":
        return native_asterisk(native)
    return root_asterisk(ensure_root())


def native_asterisk(program: str) -> Asterisk:
    """Return the installed Asterisk, run with jemalloc where that is installed."""
    jemalloc = next(Path("/usr/lib").glob("*/libjemalloc.so.2"), None)
    preload = () if jemalloc is None else ("env", f"LD_PRELOAD={jemalloc}")
    return Asterisk(
        command=(*preload, program),
        modules_dir=_first(Path("/usr/lib"), "asterisk/modules", "*/asterisk/modules"),
        data_dir=_first(Path("/"), "usr/share/asterisk", "var/lib/asterisk"),
    )


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
    raise RuntimeError(f"Asterisk is installed, but not {' or '.join(patterns)} in {base}")
