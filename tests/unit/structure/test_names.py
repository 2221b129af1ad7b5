"""Names of files and identifiers are standard terms, not the private words they replaced."""

import io
import keyword
import os
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.harness.each import for_each

ROOT = Path(__file__).parents[3]
INSTALLED = {"__pycache__", "node_modules"}  # not ours
MAX_FILES = 25
PACKAGES = (
    "api", "asterisk-config", "base", "cli", "dev", "engine", "speech", "streams", "switchroom",
    "tests", "tools", "wire",
)  # fmt: skip
UNLIMITED = {"generated", "operations", "decisions", "versions"}  # one file per item
UNLIMITED_PATHS = {"docs/reference/commands"}

# Standard terms replaced these words; `dead letter` is one of those terms.
REPLACED = frozenset([
    "anew", "archivist", "asked", "asks", "cabinet", "courier", "couriers", "crowding", "deed",
    "deeds", "desk", "desks", "doing", "doorkeeper", "errand", "errands", "everyone", "heir",
    "heirs", "hop", "hops", "house", "keeper", "lane", "lanes", "ledger", "letter", "letters",
    "overheard", "parcel", "parcels", "promise", "promised", "promises", "roster", "seat",
    "seating", "seats", "shelf", "standstill", "strain", "studio", "tape", "taped", "tapes",
    "taping", "told", "tune", "tunes", "untold", "whom", "wished", "wishes",
])  # fmt: skip


ANY_REPLACED = re.compile(rf"(?<![a-z])(?:{'|'.join(REPLACED)})(?![a-z])")


def _files() -> Iterator[Path]:
    """Yield the project's files below the source folders and docs, relative to the root."""
    for top in (*PACKAGES, "docs"):
        for folder, folders, names in os.walk(ROOT / top):
            folders[:] = {*folders} - INSTALLED
            yield from (Path(folder, name).relative_to(ROOT) for name in names)


def _snake_case(text: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


def _words(name: str) -> set[str]:
    known = _snake_case(name).replace("dead_letter", "dead").replace("ascii_letters", "ascii")
    return set(known.split("_"))


def _identifiers(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            yield token.start[0], token.string


def _sources(package: str) -> Iterator[Path]:
    for path in _files():
        if path.parts[0] == package and path.suffix == ".py" and "generated" not in path.parts:
            yield path


@for_each(PACKAGES)
def test_identifiers_use_standard_terms(package: str) -> None:
    """No name of a file, class, function, field or variable contains a replaced word."""
    found = []
    for path in _sources(package):
        source = (ROOT / path).read_text()
        # A source without such a word need not be read token by token.
        if ANY_REPLACED.search(_snake_case(f"{path.stem} {source}")):
            names = [(0, path.stem), *_identifiers(source)]
            found += [f"{path}:{line} {name}" for line, name in names if _words(name) & REPLACED]
    assert found == []


def test_identifiers_split_into_words() -> None:
    """The check sees words inside camel case, snake case and constants."""
    assert _words("CallbackCourier") == {"callback", "courier"}
    assert _words("MAX_TAPES") == {"max", "tapes"}
    assert _words("_is_told") == {"", "is", "told"}


def test_no_folder_is_crowded() -> None:
    """A folder has at most 25 files, unless it holds one file per item of a list."""
    files = Counter(path.parent for path in _files())
    crowded = {str(folder): count for folder, count in files.items() if count > MAX_FILES}
    allowed = {each for each in crowded if Path(each).name in UNLIMITED} | UNLIMITED_PATHS
    assert {each: count for each, count in crowded.items() if each not in allowed} == {}
