"""The tests that may be skipped: `tests/skips.toml`."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tests.harness.gate.full_list import TESTS

PATH = TESTS / "skips.toml"


class Skip(Struct, frozen=True, forbid_unknown_fields=True):
    """A test (a file, a function or a variant) that may be skipped, and when."""

    test: Annotated[str, Meta(min_length=1)]
    when: Annotated[str, Meta(min_length=1)]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    skip: tuple[Skip, ...] = ()


def read_skips(path: Path = PATH) -> tuple[str, ...]:
    """Return the tests of the list."""
    return tuple(each.test for each in msgspec.toml.decode(path.read_bytes(), type=_File).skip)
