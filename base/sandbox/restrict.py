"""Restricts the current process for good, by all means that the kernel has."""

import os
import resource
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from base.sandbox.landlock import restrict_files
from base.sandbox.prctl import give_up_privileges
from base.sandbox.seccomp import filter_system_calls

SOURCES = Path(__file__).parents[2]
_PACKAGES = ("api", "base", "engine", "speech", "wire")
# What the interpreter and native libraries read.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types"),
    *("/dev/null", "/dev/zero", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo"),
    "/sys/devices/system/cpu",
)
# The parent's environment has its secrets. onnxruntime reports its use to its vendor since 1.29.
ENVIRONMENT = {"PYTHONPATH": str(SOURCES), "LANG": "C.UTF-8", "ORT_DISABLE_TELEMETRY": "1"}
if sys.pycache_prefix:  # in an image without compiled modules: this process has compiled most
    ENVIRONMENT["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


class ResourceLimits(NamedTuple):
    """Limits of a process; without `cpu_s`, its jobs have limits of their own."""

    memory_bytes: int
    file_bytes: int
    open_files: int
    cpu_s: int | None = None


def set_limits(limits: ResourceLimits) -> None:
    values = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    if limits.cpu_s is not None:
        values[resource.RLIMIT_CPU] = limits.cpu_s
    for kind, value in values.items():
        lower = allowed_limit(kind, value)
        resource.setrlimit(kind, (lower, lower))


def allowed_limit(kind: int, value: int) -> int:
    """Return a limit, or the system's own one if that is lower: only root may raise it."""
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def restrict(readable: Sequence[Path] = (), writable: Sequence[Path] = ()) -> None:
    """Forbid the network, programs, other processes, and files but these.

    Where the kernel lacks a part, a line on stderr names it; the limits of resources and the empty
    environment remain.
    """
    parts = {
        "no_new_privs": give_up_privileges(),
        "landlock": restrict_files(
            [*map(Path, _SYSTEM), *_python_folders(), *readable], [SOURCES], writable
        ),
        "seccomp": filter_system_calls(),
    }
    if missing := [name for name, is_set in parts.items() if not is_set]:
        report(f"parser of files: the kernel lacks {', '.join(missing)}")


def report(text: str) -> None:
    """Write a line to stderr, unless that is a file that has more bytes than the limits allow."""
    with suppress(OSError):
        os.write(2, f"{text}\n".encode())


def _python_folders() -> list[Path]:
    compiled = {sys.pycache_prefix} if sys.pycache_prefix else set()
    installed = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()} | compiled
    others = {each for each in sys.path if each and Path(each) not in {SOURCES, Path.cwd()}}
    packages = [SOURCES / each for each in _PACKAGES]
    return [*packages, *(Path(os.path.realpath(each)) for each in installed | others)]
