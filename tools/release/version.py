"""Writes a version to all its places, and gives the changelog's section its name.

`make version VERSION=1.2.0`; then read the changes, and commit them.
"""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from tools.lock import ROOT

NUMBER = r"\d+\.\d+\.\d+"
UNRELEASED = "## [Unreleased]"
OPERATIONS = "docs/operations"
# Files, and what stands before the version there.
PLACES = {
    "pyproject.toml": r'^version = "',
    "sdk/python/pyproject.toml": r'^version = "',
    "sdk/typescript/package.json": r'^  "version": "',
    "sdk/typescript/package-lock.json": r'"name": "switchroom-sdk",\s+"version": "',
    f"{OPERATIONS}/deploy.md": r"/switchroom-(?:engine|api):",
    f"{OPERATIONS}/helm/switchroom/Chart.yaml": r"^(?:version|appVersion): ",
    f"{OPERATIONS}/helm/switchroom/values.yaml": r"/switchroom-(?:engine|api):",
    f"{OPERATIONS}/kubernetes/overlays/example/kustomization.yaml": r"newTag: ",
    f"{OPERATIONS}/kubernetes/overlays/trial/kustomization.yaml": r"newTag: ",
}


class ReleaseError(Exception):
    """Why there is no release; what to do is part of the text."""


def check_number(version: str) -> None:
    """Raise ReleaseError unless it is MAJOR.MINOR.PATCH."""
    if not re.fullmatch(NUMBER, version):
        raise ReleaseError(f"VERSION={version}: expected three numbers, such as 1.2.0")


def other_versions(root: Path, version: str) -> Iterator[str]:
    """Yield the places that name no version, or another one."""
    for name, before in PLACES.items():
        found = re.findall(f"({before})({NUMBER})", (root / name).read_text(), re.MULTILINE)
        if not found:
            yield f"{name}: no version is found"
        yield from {f"{name}: {number} instead of {version}" for _, number in found
                    if number != version}  # fmt: skip


def section(root: Path, version: str) -> str:
    """Return the changelog's section of a version; raises ReleaseError."""
    parts = re.split(r"^(?=## \[)", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    for part in parts:
        heading, _, text = part.partition("\n")
        if re.fullmatch(rf"## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", heading):
            if not text.strip():
                raise ReleaseError(f"CHANGELOG.md: the section of {version} is empty")
            return text.strip() + "\n"
    raise ReleaseError(f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`")


def write_version(root: Path, version: str, day: date) -> None:
    """Write the version everywhere; the unreleased changes become its section."""
    check_number(version)
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text()
    if f"## [{version}]" in text:
        raise ReleaseError(f"CHANGELOG.md has a section of {version}")
    changelog.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n\n## [{version}] - {day}", 1))
    for name, before in PLACES.items():
        path = root / name
        changed = re.sub(
            f"({before}){NUMBER}", rf"\g<1>{version}", path.read_text(), flags=re.MULTILINE
        )
        path.write_text(changed)


def main() -> None:
    """Write the version of the command line."""
    try:
        write_version(ROOT, sys.argv[1], datetime.now(UTC).date())
    except ReleaseError as error:
        sys.exit(f"release: {error}")


if __name__ == "__main__":
    main()
