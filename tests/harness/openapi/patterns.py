"""The patterns in an OpenAPI document."""

from collections.abc import Iterator
from typing import Any


def patterns_of(value: Any) -> Iterator[str]:
    """Yield all patterns."""
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from patterns_of(each)
