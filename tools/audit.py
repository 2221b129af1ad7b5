"""Compares locked and vendored packages with published vulnerabilities, at osv.dev: `make audit`.

One request names all packages and versions. `make check` runs it with `--if-reachable`, so that a
machine without a network is told that nothing was compared, and passes.
"""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from functools import partial
from itertools import starmap
from threading import Thread
from typing import Any, NamedTuple

from tools.lock import ALL, BUILD
from tools.sbom import locked, vendored

ADVISORIES = "https://api.osv.dev/v1/querybatch"
TIMEOUT_S = 10.0  # in all, also for a name server that does not answer
OK, VULNERABLE, UNREACHABLE = 0, 1, 2


class Package(NamedTuple):
    """A package as osv.dev names it."""

    ecosystem: str
    name: str
    version: str


class AdvisoriesUnreachable(Exception):
    """Nothing was compared."""


def find_vulnerable(
    packages: Sequence[Package], url: str = ADVISORIES, timeout_s: float = TIMEOUT_S
) -> dict[Package, list[str]]:
    """Return the advisories of the packages that have some; raises AdvisoriesUnreachable."""
    results = _answer(url, {"queries": [_query(each) for each in packages]}, timeout_s)
    if len(results) != len(packages):
        raise AdvisoriesUnreachable(f"{url} answered for {len(results)} packages")
    found = zip(packages, results, strict=True)
    return {
        package: [each["id"] for each in result["vulns"]]
        for package, result in found
        if result.get("vulns")
    }


def _query(package: Package) -> dict[str, Any]:
    return {
        "package": {"name": package.name, "ecosystem": package.ecosystem},
        "version": package.version,
    }


def _answer(url: str, body: object, timeout_s: float) -> list[dict[str, Any]]:
    """Send the request in a thread: looking up a name has no timeout of its own."""
    found: list[list[dict[str, Any]]] = []
    reasons = [f"{url} did not answer within {timeout_s:g} s"]

    def send() -> None:
        request = urllib.request.Request(url, json.dumps(body).encode())  # noqa: S310 - https
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as response:  # noqa: S310 - https
                found.append(json.load(response)["results"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            reasons.append(f"{url}: {error}")

    thread = Thread(target=send, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if not found:
        raise AdvisoriesUnreachable(reasons[-1])
    return found[0]


def main(arguments: Sequence[str], url: str = ADVISORIES, timeout_s: float = TIMEOUT_S) -> int:
    """Print the vulnerable packages; return the exit status."""
    python = sorted({*locked(ALL), *locked(BUILD)})
    packages = [
        *starmap(partial(Package, "PyPI"), python),
        *starmap(partial(Package, "npm"), vendored()),
    ]
    try:
        vulnerable = find_vulnerable(packages, url, timeout_s)
    except AdvisoriesUnreachable as error:
        may_skip = "--if-reachable" in arguments
        sys.stdout.write(f"audit {'skipped' if may_skip else 'failed'}: {error}\n")
        return OK if may_skip else UNREACHABLE
    for (_, name, version), ids in vulnerable.items():
        sys.stdout.write(f"{name} {version} is vulnerable: {', '.join(ids)}\n")
    sys.stdout.write(f"audit: {len(vulnerable)} of {len(packages)} packages are vulnerable\n")
    return VULNERABLE if vulnerable else OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
