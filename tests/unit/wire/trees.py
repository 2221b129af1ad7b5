"""Helpers that parse trees and return their errors."""

import json
from typing import Any

import pytest

from wire import verbs
from wire.decoding.errors import BadInput
from wire.tree import DEFAULT_LIMITS, Limits, parse_action

HTTPS = "https://example.com/a"


def parse(tree: Any, limits: Limits = DEFAULT_LIMITS) -> verbs.Action:
    """Parse a tree as an originate's action."""
    return parse_action(json.dumps(tree).encode(), limits, "action")


def fault(tree: Any, limits: Limits = DEFAULT_LIMITS) -> tuple[str, str]:
    """Return the path and the message of a tree's error."""
    with pytest.raises(BadInput) as caught:
        parse(tree, limits)
    return caught.value.path, caught.value.message


def chain(depth: int, key: str = "action") -> dict[str, Any]:
    """Nest hangups or gather fallbacks."""
    verb: dict[str, Any] = {"type": "hangup"}
    for _ in range(depth - 1):
        if key == "action":
            verb = {"type": "hangup", "action": verb}
        else:
            verb = {"type": "gather", "data": {"fallback": verb}}
    return verb
