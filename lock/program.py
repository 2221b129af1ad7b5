"""Prints the locked packages of a program: `python3 lock/program.py engine > packages.txt`.

`dev.txt` has every package with its versions and hashes; `programs.toml` has the names of those
that a program needs. It needs Python alone: images run it before anything is installed.
"""

import re
import sys
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent
NAME = re.compile(r"[a-z0-9._-]+")


def programs() -> dict[str, list[str]]:
    """Return the names of each program's packages."""
    return tomllib.loads((FOLDER / "programs.toml").read_text())


def select(program: str) -> str:
    """Return requirements with hashes; raises KeyError for an unknown program."""
    names = {*programs()[program]}
    entries = re.split(r"\n(?=\S)", (FOLDER / "dev.txt").read_text().strip())
    return "".join(f"{each}\n" for each in entries if _name(each) in names)


def _name(entry: str) -> str:
    found = NAME.match(entry)
    return found[0] if found else ""


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in programs():
        sys.stdout.write(select(sys.argv[1]))
    else:
        sys.exit(f"usage: program.py PROGRAM, one of {', '.join(programs())}")
