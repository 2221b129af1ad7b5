"""JSON Schemas made from the shapes themselves: of what is told, and of what customers write.

As files they are in docs/schemas.
"""

from typing import Any

from msgspec.json import schema_components

from wire.events import VERSION, CallEvent
from wire.flow import FlowDocument
from wire.request import ApiRequest

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEMPLATED = r"\{\{[^{}]+\}\}"
# What a flow's nodes have in `data`: in these texts a template may stand.
_DATA = (
    "Confirm",
    "DialData",
    "FlowData",
    "GatherData",
    "MenuData",
    "PlayData",
    "RecordData",
    "SayData",
)


def event_schema() -> dict[str, Any]:
    """Give the schema of an event, its record within it."""
    (event,), parts = schema_components([CallEvent], ref_template="#/$defs/{name}")
    return {
        "$schema": _DIALECT,
        "title": "A call event of Switchroom",
        "description": f"Version {VERSION}; docs/events.md says what may change within it.",
        **event,
        "$defs": parts,
    }


def flow_schema() -> dict[str, Any]:
    """Give the schema of a flow."""
    schema = _document("A flow of Switchroom", "docs/flows.md says what it does.", FlowDocument)
    parts = schema["$defs"]
    return {**schema, "$defs": {**parts, **{name: _templated(parts[name]) for name in _DATA}}}


def request_schema() -> dict[str, Any]:
    """Give the schema of an API request."""
    return _document("An API request of Switchroom", "docs/flows.md says what it does.", ApiRequest)


def _document(title: str, description: str, shape: Any) -> dict[str, Any]:
    (document,), parts = schema_components([shape], ref_template="#/$defs/{name}")
    name = document["$ref"].rpartition("/")[2]
    whole = {"$schema": _DIALECT, **parts.pop(name), "$defs": parts}
    return {**whole, "title": title, "description": description}


def _templated(schema: Any) -> Any:
    """Let a template stand where a text of a pattern is wanted."""
    match schema:
        case {"type": "string", "pattern": _}:
            beside = {key: schema[key] for key in ("default",) if key in schema}
            plain = {key: each for key, each in schema.items() if key not in beside}
            return {"anyOf": [plain, {"type": "string", "pattern": _TEMPLATED}], **beside}
        case dict():
            return {key: _templated(each) for key, each in schema.items()}
        case list():
            return [_templated(each) for each in schema]
        case _:
            return schema


DOCUMENTS = {
    "call-event.json": event_schema,
    "flow.json": flow_schema,
    "request.json": request_schema,
}
