"""Checks an action of a bot before engines read it: not what it means, but that it can be read."""

from typing import Any

import msgspec

from streams.bots.limits import MAX_ACTION_BYTES
from streams.bots.protocols.messages import InvalidMessage

MAX_DEPTH = 100


def check_tree(tree: bytes) -> None:
    """Raise InvalidMessage for what could disturb the reports of other streams."""
    if len(tree) > MAX_ACTION_BYTES:
        raise InvalidMessage(f"an action has more than {MAX_ACTION_BYTES} bytes")
    try:
        value = msgspec.json.decode(tree)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidMessage(f"an action that is no JSON: {error}") from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for each in level for child in _children(each)]
        if not level:
            return
    raise InvalidMessage(f"an action is nested deeper than {MAX_DEPTH} levels")


def _children(value: Any) -> list[Any]:
    match value:
        case dict():
            return [*value.values()]
        case list():
            return value
        case _:
            return []
