"""Rebuilds a struct with changed fields, at any depth."""

from collections.abc import Callable
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

Value = TypeVar("Value")
Change = Callable[[str, object], object]  # the name of a field, and its value


def map_fields(value: Value, change: Change, name: str = "") -> Value:
    """Return a struct, or a tuple, with all values in it changed; itself if none is."""
    if isinstance(value, tuple):
        items = tuple(map_fields(each, change, name) for each in value)
        is_changed = any(a is not b for a, b in zip(items, value, strict=True))
        return cast("Value", items) if is_changed else value
    if isinstance(value, Struct):
        fields = {each: getattr(value, each) for each in value.__struct_fields__}
        mapped = {each: map_fields(field, change, each) for each, field in fields.items()}
        changed = {each: new for each, new in mapped.items() if new is not fields[each]}
        return replace(value, **changed) if changed else value
    return cast("Value", change(name, value))
