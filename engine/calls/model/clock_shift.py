"""Moves the times in a call when the engine's clock is corrected.

Times are the fields named `…_ms` that hold wall-clock milliseconds; small values in such fields
are durations. If its times and its clock move together, a call behaves the same as before.
"""

from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

FIRST_TIME_MS = 100_000_000_000  # in 1973; as a length, three years
PBX_TIMES = frozenset({"pbx_ms"})  # of the PBX's clock
Value = TypeVar("Value")


def move_times(value: Value, by_ms: int) -> Value:
    """Return a struct, or a tuple of structs, with all its times moved."""
    if isinstance(value, tuple):
        items = tuple(move_times(each, by_ms) for each in value)
        is_moved = any(a is not b for a, b in zip(items, value, strict=True))
        return cast("Value", items) if is_moved else value
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {name: _move(name, field, by_ms) for name, field in fields.items()}
        changed = {name: each for name, each in changed.items() if each is not fields[name]}
        return replace(value, **changed) if changed else value
    return value


def _move(name: str, field: object, by_ms: int) -> object:
    is_time = name.endswith("_ms") and name not in PBX_TIMES and isinstance(field, int)
    if is_time and isinstance(field, int) and field >= FIRST_TIME_MS:
        return field + by_ms
    return move_times(field, by_ms)
