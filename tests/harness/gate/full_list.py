"""The tests that only `make full` runs: `tests/full.toml`, and which tests an entry matches."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

TESTS = Path(__file__).parents[2]
PATH = TESTS / "full.toml"
ANY_TEST = "::*["


class Group(Struct, frozen=True, forbid_unknown_fields=True):
    """Tests for one reason; `proven` names what in the gate proves the same mechanism.

    An entry is a file, a function (`file::test_x`), one variant of it (`file::test_x[param]`), or
    all variants of a file with a parameter (`file::*[postgres]`).
    """

    reason: Annotated[str, Meta(min_length=1)]
    proven: Annotated[str, Meta(min_length=1)]
    tests: Annotated[tuple[str, ...], Meta(min_length=1)]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    group: tuple[Group, ...]


def read_groups(path: Path = PATH) -> tuple[Group, ...]:
    """Return the groups of the file."""
    return msgspec.toml.decode(path.read_bytes(), type=_File).group


def read_entries(path: Path = PATH) -> tuple[str, ...]:
    """Return the entries of all groups."""
    return tuple(entry for group in read_groups(path) for entry in group.tests)


def matches(entry: str, nodeid: str) -> bool:
    """Return whether a test is the entry, or one of its file, function or parameter."""
    file, has_parameter, parameter = entry.partition(ANY_TEST)
    if has_parameter:
        parameters = nodeid.partition("[")[2].rstrip("]").split("-")
        return nodeid.startswith(f"{file}::") and parameter.rstrip("]") in parameters
    return nodeid == entry or nodeid.startswith((f"{entry}::", f"{entry}["))
