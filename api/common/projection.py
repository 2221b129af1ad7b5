"""Builds a struct from another one that has fields of the same names."""

from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

T = TypeVar("T", bound=Struct)


def project(shape: type[T], source: Struct, /, **others: Any) -> T:
    """Return a struct of a shape: `others`, and the fields that the source has, too."""
    return shape(**{name: getattr(source, name) for name in _shared(shape, type(source))} | others)


@cache
def _shared(shape: type[Struct], source: type[Struct]) -> frozenset[str]:
    return frozenset(shape.__struct_fields__) & frozenset(source.__struct_fields__)
