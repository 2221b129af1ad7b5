"""Resolves the dependencies of each program: `make lock` writes versions and hashes to lock/.

All files have the same versions. No address of an index is written: the client's own configuration
has it. The bot of the tests, which is a customer's program, has versions of its own.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "lock"
BOT = ROOT / "tests/harness/bots/pipecat_program"
ALL = "dev"  # resolved first: it constrains the others
EXTRAS = {
    ALL: ("dev",),
    "engine": ("engine", "speech", "grpc", "otel"),
    "api": ("api", "otel"),
    "streams": ("streams", "otel"),
    "host": ("engine", "speech", "recognition", "grpc", "api", "streams", "otel"),
    "speech": ("recognition", "whisper", "otel"),
}
BUILD = "build"  # what the package itself is built with: a dependency group
OPTIONS = (
    *("--universal", "--python-version", "3.11", "--generate-hashes", "--upgrade", "--quiet"),
    *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
)


def resolve(name: str, sources: Sequence[str]) -> None:
    """Write lock/NAME.txt; raises CalledProcessError."""
    constraint = [] if name == ALL else ["--constraint", f"lock/{ALL}.txt"]
    _compile([*sources, *constraint, "--output-file", f"lock/{name}.txt"])


def resolve_bot() -> None:
    """Write the lock of the Pipecat bot: its packages, and its model without dependencies."""
    bot = _compile([str(BOT / "requirements.in")])
    model = _compile([str(BOT / "model.in"), "--no-deps"])
    (BOT / "lock.txt").write_text(bot + model)


def _compile(arguments: Sequence[str]) -> str:
    command = [sys.executable, "-m", "uv", "pip", "compile", *arguments, *OPTIONS]
    run = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return run.stdout


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, extras in EXTRAS.items():
        chosen = (part for extra in extras for part in ("--extra", extra))
        resolve(name, ["pyproject.toml", *chosen])
    resolve(BUILD, ["--group", BUILD])
    resolve_bot()


if __name__ == "__main__":
    main()
