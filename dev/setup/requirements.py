"""Which requirements of this package's extras are not installed, by the package's own metadata."""

import re
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, requires, version

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
