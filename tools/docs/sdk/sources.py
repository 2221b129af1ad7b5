"""What the SDKs are generated from: the shapes in `wire`, and the REST layer's OpenAPI document."""

from functools import cache
from typing import Any

from fastapi import FastAPI
from msgspec.json import schema_components

from api.app import create_routes
from wire.base import (
    CallerId,
    DialTarget,
    Language,
    Milliseconds,
    Name,
    Number,
    Party,
    Seconds,
    Url,
)
from wire.events.call_events import CallEvent
from wire.verbs import Action, Verb
from wire.webhooks import ActionRequest, GatherResult, RecordResult, StreamResult

Schema = dict[str, Any]
REFS = "#/components/schemas/{name}"
# Types of values that have names: a schema that is equal to one of these is written as its name.
NAMED_VALUES = {
    "Url": Url,
    "Number": Number,
    "Party": Party,
    "DialTarget": DialTarget,
    "Name": Name,
    "CallerId": CallerId,
    "Language": Language,
    "Seconds": Seconds,
    "Milliseconds": Milliseconds,
}


def schemas_of(*shapes: Any) -> tuple[list[Schema], dict[str, Schema]]:
    """Return the schemas of shapes, and all that they refer to by name."""
    found, components = schema_components(shapes, ref_template=REFS)
    return list(found), components


@cache
def named_values() -> dict[str, Schema]:
    """Return the schemas of values that have names."""
    found, _ = schemas_of(*NAMED_VALUES.values())
    return dict(zip(NAMED_VALUES, found, strict=True))


@cache
def verb_schemas() -> tuple[Schema, Schema, dict[str, Schema]]:
    """Return the schemas of a verb and of an action, and their components."""
    (verb, action), components = schemas_of(Verb, Action)
    return verb, action, components


def webhook_schemas() -> dict[str, Schema]:
    """Return the schemas of all bodies that a customer's server receives."""
    return schemas_of(ActionRequest, GatherResult, RecordResult, StreamResult, CallEvent)[1]


def rest_document() -> dict[str, Any]:
    """Return the OpenAPI document of the REST layer; operations have their components."""
    return FastAPI.openapi(create_routes(has_docs=False))
