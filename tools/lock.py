"""Resolves the dependencies of each program: `make lock` writes versions and hashes to lock/.

One file has them all; `lock/program.py` selects those of a program. No address of an index is
written: the client's own configuration has it. The bot of the tests, which is a customer's program,
has versions of its own.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "lock"
BOT = ROOT / "tests/harness/bots/pipecat_program"
ALL = "dev"  # has the packages of all
_NAME = re.compile(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==", re.MULTILINE)
EXTRAS = {
    "engine": ("engine", "speech", "grpc", "otel"),
    "api": ("api", "otel"),
    "streams": ("streams", "otel"),
    "host": ("engine", "speech", "recognition", "grpc", "api", "streams", "otel"),
    "speech": ("recognition", "whisper", "otel"),
}
BUILD = "build"  # what the package itself is built with: a dependency group
OPTIONS = (
    *("--universal", "--python-version", "3.11", "--upgrade", "--quiet"),
    *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
)


def resolve(name: str, *sources: str) -> None:
    """Write lock/NAME.txt; raises CalledProcessError."""
    _compile([*sources, "--generate-hashes", "--output-file", f"lock/{name}.txt"])


def program_packages(extras: Sequence[str]) -> list[str]:
    """Return the names of the packages that extras need, in the versions of `dev.txt`."""
    chosen = (part for extra in extras for part in ("--extra", extra))
    text = _compile(["pyproject.toml", *chosen, "--constraint", f"lock/{ALL}.txt"])
    return sorted(set(_NAME.findall(text)))


def resolve_bot() -> None:
    """Write the lock of the Pipecat bot: its packages, and its model without dependencies."""
    bot = _compile([str(BOT / "requirements.in"), "--generate-hashes"])
    model = _compile([str(BOT / "model.in"), "--no-deps", "--generate-hashes"])
    (BOT / "lock.txt").write_text(bot + model)


def _compile(arguments: Sequence[str]) -> str:
    command = [sys.executable, "-m", "uv", "pip", "compile", *arguments, *OPTIONS]
    run = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return run.stdout


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    resolve(ALL, "pyproject.toml", "--extra", ALL)
    resolve(BUILD, "--group", BUILD)
    text = "# The names of the packages that each program needs; `make lock` writes this file.\n"
    for name, extras in EXTRAS.items():
        rows = "".join(f'  "{each}",\n' for each in program_packages(extras))
        text += f"{name} = [\n{rows}]\n"
    (FOLDER / "programs.toml").write_text(text)
    resolve_bot()


if __name__ == "__main__":
    main()
