"""JSON Schemas of actions, events, flows and API requests, generated from the types.

Published in docs/schemas.
"""

from typing import Any, get_args

from msgspec.json import schema_components
from msgspec.structs import fields

from wire.answer_detection import Confirm
from wire.events.call_events import VERSION, CallEvent
from wire.flow import FlowDocument, Node, RequestData
from wire.openapi.document import described, portable
from wire.request import ApiRequest
from wire.verbs import Action

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEMPLATED = r"\{\{[^{}]+\}\}"
_REF = "#/$defs/{name}"


def event_schema() -> dict[str, Any]:
    """Return the schema of an event, including its call record."""
    (event,), parts = schema_components([CallEvent], ref_template=_REF)
    whole = {
        "$schema": _DIALECT,
        "title": "A call event of Switchroom",
        "description": f"Version {VERSION}; docs/events.md says what may change within it.",
        **event,
        "$defs": described(parts),
    }
    return dict(portable(whole))


def action_schema() -> dict[str, Any]:
    """Return the schema of an action: a tree of verbs, or an address."""
    (action,), parts = schema_components([Action], ref_template=_REF)
    whole = {
        "$schema": _DIALECT,
        "title": "An action of Switchroom",
        "description": "What a webhook responds with; docs/reference/verbs.md says what it does.",
        **action,
        "$defs": described(parts),
    }
    return dict(portable(whole))


def flow_schema() -> dict[str, Any]:
    """Return the schema of a flow."""
    schema = _document("A flow of Switchroom", "docs/flows.md says what it does.", FlowDocument)
    parts = schema["$defs"]
    return {
        **schema,
        "$defs": {**parts, **{name: _templated(parts[name]) for name in _templated_parts()}},
    }


def _templated_parts() -> list[str]:
    """Return the types whose texts may be templates: a node's `data`, and a dial's `confirm`."""
    data = [each.type for node in get_args(Node) for each in fields(node) if each.name == "data"]
    with_texts = [Confirm, *(each for each in data if each is not RequestData)]
    references, _ = schema_components(with_texts, ref_template=_REF)
    return [each["$ref"].rpartition("/")[2] for each in references]


def request_schema() -> dict[str, Any]:
    """Return the schema of an API request."""
    return _document("An API request of Switchroom", "docs/flows.md says what it does.", ApiRequest)


def _document(title: str, description: str, shape: Any) -> dict[str, Any]:
    (document,), parts = schema_components([shape], ref_template=_REF)
    name = document["$ref"].rpartition("/")[2]
    parts = described(parts)
    whole = {"$schema": _DIALECT, **parts.pop(name), "$defs": parts}
    return dict(portable({**whole, "title": title, "description": description}))


def _templated(schema: Any) -> Any:
    """Also allow a template where a text must match a pattern."""
    match schema:
        case {"type": "string", "pattern": _}:
            kept = {key: schema[key] for key in ("default", "description") if key in schema}
            plain = {key: each for key, each in schema.items() if key not in kept}
            return {"anyOf": [plain, {"type": "string", "pattern": _TEMPLATED}], **kept}
        case dict():
            return {key: _templated(each) for key, each in schema.items()}
        case list():
            return [_templated(each) for each in schema]
        case _:
            return schema


DOCUMENTS = {
    "action.json": action_schema,
    "call-event.json": event_schema,
    "flow.json": flow_schema,
    "request.json": request_schema,
}
