"""What a part of a document becomes: a verb of a tree, an address, or None at the end."""

from collections.abc import Mapping
from typing import Any

Action = dict[str, Any] | str | None
MAX_REPEATS = 10  # of a text
FOREVER = 100  # the most that a play repeats
MAX_WAIT_S = 600
MAX_PARTIES = 10


def verb(kind: str, data: Mapping[str, Any], follows: Action = None) -> dict[str, Any]:
    """Return a verb, without an empty action."""
    return {"type": kind, "data": dict(data)} | ({"action": follows} if follows else {})
