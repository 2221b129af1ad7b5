"""Programs of npm packages that read OpenAPI documents, and the warnings of linters."""

import json
import os
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

FOLDER = Path(__file__).parent / "tools"
ALLOWED = Path(__file__).parent / "allowed_warnings.toml"
_TIMEOUT_S = 120
_QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


class Finding(Struct, frozen=True):
    """A finding of a linter."""

    tool: str
    rule: str
    where: str
    message: str


class AllowedWarning(Struct, frozen=True, forbid_unknown_fields=True):
    """Warnings that remain; `where` and `message` are patterns."""

    tool: str
    document: str
    rule: str
    where: str
    message: str
    reason: str

    def allows(self, found: Finding) -> bool:
        """Whether it is the found warning."""
        is_rule = (self.tool, self.rule) == (found.tool, found.rule)
        return (
            is_rule
            and fnmatchcase(found.where, self.where)
            and fnmatchcase(found.message, self.message)
        )


def allowed_warnings(tool: str, document: str) -> list[AllowedWarning]:
    """Return the listed warnings of a linter about a document."""
    return [each for each in all_allowed() if (each.tool, each.document) == (tool, document)]


def all_allowed() -> list[AllowedWarning]:
    """Read allowed_warnings.toml."""
    with ALLOWED.open("rb") as file:
        return convert(tomllib.load(file)["warning"], list[AllowedWarning])


def differences(found: Iterable[Finding], allowed: Iterable[AllowedWarning]) -> list[str]:
    """Return what is wrong: warnings that are not listed, and listed ones that do not occur."""
    counts = Counter(dict.fromkeys(allowed, 0))
    wrong = []
    for warning in found:
        matching = [each for each in counts if each.allows(warning)]
        counts.update(matching)
        if not matching:
            wrong.append(f"not listed: {warning.rule} at {warning.where}: {warning.message}")
    unused = [each for each, count in counts.items() if not count]
    return wrong + [f"no longer occurs: {each.rule} at {each.where}" for each in unused]


def spectral(document: Path) -> Iterator[Finding]:
    """Yield what Spectral finds with its rules for OpenAPI."""
    report = document.with_suffix(".spectral")
    run("spectral", "lint", str(document), "-r", "spectral.yaml", "-f", "json", "-o", str(report))
    for each in json.loads(report.read_text()):
        where = ".".join(map(str, each["path"]))
        yield Finding("spectral", str(each["code"]), where, each["message"])


def redocly(document: Path) -> Iterator[Finding]:
    """Yield what Redocly finds with its recommended rules."""
    report = run("redocly", "lint", str(document), "--config", "redocly.yaml", "--format", "json")
    found: dict[str, Any] = json.loads(report.stdout)
    for each in found["problems"]:
        where = each["location"][0].get("pointer", "")
        yield Finding("redocly", each["ruleId"], where, each["message"])


LINTERS = {"spectral": spectral, "redocly": redocly}


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the installed packages."""
    return subprocess.run(
        (str(FOLDER / "node_modules/.bin" / program), *arguments),
        cwd=FOLDER,
        env={**os.environ, **_QUIET},
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
    )
