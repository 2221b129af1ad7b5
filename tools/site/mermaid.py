"""The program that draws mermaid diagrams, as a file of the site: no browser is sent elsewhere."""

import base64
import hashlib
import subprocess
import tarfile
from pathlib import Path

VERSION = "12.3.0"
INTEGRITY = (
    "4113TdXeLAsMruJ79OpFL5O8+LTFXhQqZ260rF3tgUmiNAtRm4Uume04I+65PRN6yZ69J4f8rVYWW8zRk65UYw=="
)
SCRIPT = "mermaid.min.js"
_MEMBER = f"package/dist/{SCRIPT}"


def fetch_mermaid(cache: Path) -> Path | None:
    """Return the script, from npm the first time; None if npm or its registry is not reached."""
    script = cache / f"mermaid-{VERSION}.min.js"
    if script.exists():
        return script
    cache.mkdir(parents=True, exist_ok=True)
    command = ("npm", "pack", "--silent", f"mermaid@{VERSION}")
    try:
        subprocess.run(command, cwd=cache, check=True, timeout=120, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        return None
    package = cache / f"mermaid-{VERSION}.tgz"
    content = package.read_bytes()
    found = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != INTEGRITY:
        raise RuntimeError(f"mermaid {VERSION} is another file than expected: sha512-{found}")
    with tarfile.open(package) as archive:
        member = archive.extractfile(_MEMBER)
        if member is None:
            raise RuntimeError(f"mermaid {VERSION} has no {_MEMBER}")
        script.write_bytes(member.read())
    package.unlink()
    return script
