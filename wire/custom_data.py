"""Customers' data of a call: any JSON object within limits on depth, size and integers."""

from typing import Any

import msgspec

from wire.decoding.errors import BadInput

MAX_DEPTH = 50
MAX_BYTES = 16_384  # sent with every event, webhook and commit of its call
_INTEGERS = range(-(2**63), 2**64)  # what MessagePack can hold


def check_custom_data(data: dict[str, Any] | None, path: str) -> None:
    """Check that an object can be stored with a call; raises BadInput."""
    if data is None:
        return
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [each for value in level for each in _inside(value, path)]
        if not level:
            break
    else:
        raise BadInput(path, f"nested deeper than {MAX_DEPTH} levels", "too_deep")
    if len(msgspec.json.encode(data)) > MAX_BYTES:
        raise BadInput(path, f"larger than {MAX_BYTES} bytes", "too_large")


def _inside(value: Any, path: str) -> list[Any]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case int() if value not in _INTEGERS:
            raise BadInput(path, "an integer of more than 64 bits")
        case _:
            return []
