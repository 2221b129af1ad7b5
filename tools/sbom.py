"""Lists the packages of each image in CycloneDX 1.5: `make sbom` writes them to dist/.

Those of Python, and the modules of npm that the console is made of. It reads the lock files and
vendored.toml only, so it works offline. The packages of the base image are listed by
the tool that builds or scans images.
"""

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

from lock.program import select
from tools.lock import ALL, BUILD, EXTRAS, FOLDER, ROOT

_PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_VENDORED = ROOT / "api/console/static/vendored/vendored.toml"
WITH_CONSOLE = ("dev", "api", "host")
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs, in RFC 9562


def locked(name: str) -> list[tuple[str, str]]:
    """Return name and version of each package of a program, or of a file in lock/.

    A package may have a version for each version of Python.
    """
    text = select(name) if name in EXTRAS else (FOLDER / f"{name}.txt").read_text()
    return sorted((found[1], found[2]) for found in _PIN.finditer(text))


def vendored() -> list[tuple[str, str]]:
    """Return name and version of each package of npm that the console is made of."""
    rows = tomllib.loads(_VENDORED.read_text()).values()
    return sorted({item for each in rows for item in each["packages"].items()})


def bill_of_materials(name: str) -> dict[str, Any]:
    """Return the CycloneDX document of an image; the same files give the same document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    components = [_component("pypi", *each) for each in locked(name)]
    if name in WITH_CONSOLE:
        components += [_component("npm", *each) for each in vendored()]
    root = {
        "type": "application",
        "bom-ref": f"switchroom-{name}",
        "name": f"switchroom-{name}",
        "version": project["version"],
        "licenses": [{"license": {"id": project["license"]}}],
    }
    serial = uuid.uuid5(_NAMESPACE, json.dumps([root, components]))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": root},
        "components": components,
        "dependencies": [
            {"ref": root["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}
        ],
    }


def _component(kind: str, name: str, version: str) -> dict[str, str]:
    purl = f"pkg:{kind}/{name.replace('@', '%40')}@{version}"  # npm's scopes have it
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def write_bills(folder: Path) -> None:
    """Write one file for each image."""
    for name in (ALL, *EXTRAS, BUILD):
        path = folder / f"sbom-{name}.json"
        path.write_text(json.dumps(bill_of_materials(name), indent=2) + "\n")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def main() -> None:
    """Write the files to dist/."""
    (folder := ROOT / "dist").mkdir(exist_ok=True)
    write_bills(folder)


if __name__ == "__main__":
    main()
