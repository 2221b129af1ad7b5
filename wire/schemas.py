"""The JSON Schema of what is told, made from the shape itself; docs/schemas holds it as a file."""

from typing import Any

from msgspec.json import schema_components

from wire.events import VERSION, CallEvent

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


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
