"""Which tests detect each mutant: one line of a file for each, so that runs can be ended."""

import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from tools.mutants.mutations import Mutant


class Killed(Struct, frozen=True, array_like=True):
    """A mutant and the tests that detect it."""

    mutant: Mutant
    killers: tuple[str, ...]


class Record:
    """The file of one run."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._lock = threading.Lock()

    def add(self, mutant: Mutant, killers: Iterable[str]) -> None:
        """Append a mutant that tests detect; one that none detects is not kept."""
        if found := tuple(killers):
            line = msgspec.json.encode(Killed(mutant, found)) + b"\n"
            with self._lock, self._path.open("ab") as file:
                file.write(line)


def read_killers(folder: Path) -> dict[Mutant, frozenset[str]]:
    """Return the killers of all mutants in the files of a folder."""
    found = dict[Mutant, frozenset[str]]()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            killed = msgspec.json.decode(line, type=Killed)
            found[killed.mutant] = found.get(killed.mutant, frozenset()) | set(killed.killers)
    return found
