"""Installs Python packages into the environment that runs, by pip or uv.

Requirements are named one by one, not as `switchroom[…]`: that would replace the installed
version by another one of an index.
"""

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from dev.errors import PackagesMissing
from dev.setup.debian import UNREACHED
from dev.setup.disk import check_space, used_bytes

DISTRIBUTION = "switchroom"
EXTRAS = ("engine", "speech", "api", "streams", "lab")  # what `switchroom dev` runs
FURTHER_EXTRAS = ("recognition",)  # and this, where its packages can be installed
_REQUIREMENT = re.compile(r"(?P<what>(?P<name>[\w.-]+)[^;]*?)\s*;.*extra == ['\"](?P<extra>[\w-]+)")


def missing_requirements(
    declared: Iterable[str], extras: Sequence[str], is_installed: Callable[[str], bool]
) -> list[str]:
    """Return the requirements of the extras whose packages are absent, each once."""
    found: dict[str, str] = {}
    for each in declared:
        match = _REQUIREMENT.match(each)
        if match and match["extra"] in extras and not is_installed(match["name"]):
            found.setdefault(match["name"], match["what"])
    return list(found.values())


def missing_here(extras: Sequence[str] = EXTRAS) -> list[str]:
    """Return what `switchroom dev` lacks in the running environment."""
    return missing_requirements(requires(DISTRIBUTION) or (), extras, _is_installed)


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


NEEDED_BYTES = 700_000_000
_OWN_ENVIRONMENT = (
    "python3 -m venv ~/switchroom-venv",
    f"~/switchroom-venv/bin/pip install 'switchroom[{','.join(EXTRAS)}]'",
    "~/switchroom-venv/bin/switchroom dev",
)


class Installed(NamedTuple):
    """What an installation has added."""

    packages: int
    bytes: int


def install_packages(requirements: Sequence[str]) -> Installed:
    """Install requirements; raises PackagesMissing with what to type if that cannot be done."""
    if _is_externally_managed():
        reason = "this Python belongs to the system, so its packages are not changed"
        raise PackagesMissing(reason, _OWN_ENVIRONMENT)
    folder = Path(sysconfig.get_path("purelib"))
    check_space(folder, NEEDED_BYTES)
    argv = (*_installer(), *requirements)
    before = _count(), used_bytes(folder)
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        command = shlex.join(argv)
        if UNREACHED.search(done.stderr):
            raise PackagesMissing("no package index could be reached", (command,))
        reason = f"packages could not be installed ({_last_line(done.stderr)})"
        raise PackagesMissing(reason, (command,))
    return Installed(_count() - before[0], used_bytes(folder) - before[1])


def _installer() -> tuple[str, ...]:
    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
    if uv := shutil.which("uv"):
        return (uv, "pip", "install", "--python", sys.executable)
    reason = "packages are missing, and this environment has neither pip nor uv"
    raise PackagesMissing(reason, _OWN_ENVIRONMENT)


def _is_externally_managed() -> bool:
    """Return whether the system's packages own this Python (PEP 668)."""
    is_own = sys.prefix != sys.base_prefix
    return not is_own and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists()


def _count() -> int:
    return sum(1 for _ in distributions())


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return next(iter((errors or lines)[-1:]), "no reason was given")
