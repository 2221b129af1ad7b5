"""What an element becomes: a verb of a tree, an address, or None at the end of the document."""

from collections.abc import Callable, Mapping
from typing import Any

from engine.cli.twiml.document import Element
from engine.cli.twiml.remarks import Remarks

Action = dict[str, Any] | str | None
Converter = Callable[[Element, Action, Remarks], Action]


def verb(kind: str, data: Mapping[str, Any], follows: Action = None) -> dict[str, Any]:
    """Return a verb, without an empty action."""
    return {"type": kind, "data": dict(data)} | ({"action": follows} if follows else {})
