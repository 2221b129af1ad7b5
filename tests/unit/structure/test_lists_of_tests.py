"""Each entry of `tests/full.toml` and `tests/skips.toml` is a test, once.

So each test runs in `make test`, or in `make full` only.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.harness.gate.full_list import matches, read_entries, read_groups
from tests.harness.gate.skip_list import read_skips

ROOT = Path(__file__).parents[3]
TOPS = ("tests", "tests/live", "tests/live/console")
PROOF = re.compile(r"((?:\w+/)*\w+\.py)?(?:::(test_\w+))?")
LISTS = pytest.mark.parametrize("read", [read_entries, read_skips])


@LISTS
def test_each_entry_names_a_file_or_a_function(read: Callable[[], Sequence[str]]) -> None:
    """Variants are checked by the session that collects them: their names are made at run time."""
    assert [entry for entry in read() if not is_test(entry)] == []


@LISTS
def test_no_test_is_listed_twice(read: Callable[[], Sequence[str]]) -> None:
    """Neither by the same entry nor by one of its file or function."""
    entries = read()
    twice = [
        f"{entry}: {other}"
        for at, entry in enumerate(entries)
        for other in (*entries[:at], *entries[at + 1 :])
        if matches(entry, other)
    ]
    assert twice == []


def test_each_proof_exists() -> None:
    """`proven` names files in tests or tests/live, or beside the one before, and their tests."""
    assert [each for group in read_groups() for each in missing_proofs(group.proven)] == []


def missing_proofs(text: str) -> Iterator[str]:
    folder, path = Path(), ROOT
    for file, test in PROOF.findall(text):
        if file:
            places = (ROOT / "tests" / folder / file, *(ROOT / top / file for top in TOPS))
            path = next((each for each in places if each.is_file()), ROOT)
            folder = path.relative_to(ROOT / "tests").parent if path != ROOT else Path()
        if (file and path == ROOT) or (test and test not in functions_of(path)):
            yield f"{file}::{test}"


def is_test(entry: str) -> bool:
    """Return whether the file has the function, or is a file of tests."""
    file, _, test = entry.partition("::")
    functions = functions_of(ROOT / file)
    name = test.partition("[")[0]
    return name in functions if name not in {"", "*"} else bool(functions)


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Return the names of a file's tests; none without the file."""
    if not path.is_file():
        return frozenset()
    found = (ast.AsyncFunctionDef, ast.FunctionDef)
    body = ast.parse(path.read_text()).body
    names = [node.name for node in body if isinstance(node, found)]
    return frozenset(name for name in names if name.startswith("test_"))
