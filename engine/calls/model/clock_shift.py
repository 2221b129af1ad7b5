"""Moves the times in a call when the engine's clock is corrected.

Times are the fields named `…_ms` that hold wall-clock milliseconds; small values in such fields
are durations. If its times and its clock move together, a call behaves the same as before.
"""

from typing import TypeVar

from engine.calls.model.field_map import map_fields

FIRST_TIME_MS = 100_000_000_000  # in 1973; as a length, three years
PBX_TIMES = frozenset({"pbx_ms"})  # of the PBX's clock
Value = TypeVar("Value")


def move_times(value: Value, by_ms: int) -> Value:
    """Return a struct, or a tuple of structs, with all its times moved."""

    def moved(name: str, field: object) -> object:
        is_time = name.endswith("_ms") and name not in PBX_TIMES
        if is_time and isinstance(field, int) and field >= FIRST_TIME_MS:
            return field + by_ms
        return field

    return map_fields(value, moved)
