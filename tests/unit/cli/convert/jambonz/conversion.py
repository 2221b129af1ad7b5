"""Applications of jambonz that tests convert."""

import json
from typing import Any

from cli.convert.context import Context
from cli.convert.jambonz.convert import convert
from cli.convert.result import Converted
from wire.tree import Limits, parse_action

LIMITS = Limits(allow_insecure=True, sip_hosts=("example.com",))

NEXT = "https://example.com/next"

SAY: dict[str, Any] = {"type": "say", "data": {"text": "Hello."}}

HELLO = {"verb": "say", "text": "Hello."}


def run(verbs: Any, context: Context | None = None) -> Converted:
    return convert(json.dumps(verbs, indent=1).encode(), context or Context())


def converted(*verbs: dict[str, Any], context: Context | None = None) -> Any:
    """Return the tree of verbs without a loss; an engine accepts it."""
    found = run(verbs, context)
    assert found.is_complete, found.remarks
    parse_action(json.dumps(found.action).encode(), LIMITS)
    return found.action


def lost(*verbs: dict[str, Any]) -> list[str]:
    return [each.text for each in run(verbs).remarks if each.is_lost]
