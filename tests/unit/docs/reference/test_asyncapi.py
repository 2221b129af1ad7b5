"""The AsyncAPI document: its messages are those that are sent, and its examples are valid."""

from typing import Any, get_args

import jsonschema

from tests.harness.each import for_each
from tools.docs.reference.asyncapi import asyncapi_document
from wire.events.call_events import Kind

DOCUMENT = asyncapi_document()
MESSAGES = DOCUMENT["components"]["messages"]


def found(reference: str) -> Any:
    """Return what a reference of the document leads to."""
    value: Any = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        value = value[step]
    return value


def references(value: Any) -> list[str]:
    match value:
        case {"$ref": str(reference)}:
            return [reference]
        case dict():
            return [each for inner in value.values() for each in references(inner)]
        case list():
            return [each for inner in value for each in references(inner)]
        case _:
            return []


def test_references_lead_somewhere() -> None:
    """Each is in the document."""
    assert all(found(each) for each in references(DOCUMENT))


@for_each(["accountEvents", "engineEvents", "statusCallback"])
def test_a_channel_has_all_kinds_of_events(channel: str) -> None:
    """A new kind is in the document at once."""
    assert set(get_args(Kind)) <= set(DOCUMENT["channels"][channel]["messages"])


@for_each([name for name, each in MESSAGES.items() if "examples" in each])
def test_an_example_is_valid(name: str) -> None:
    """The payload's schema allows it."""
    message = MESSAGES[name]
    schema = {**message["payload"], "components": DOCUMENT["components"]}
    for each in message["examples"]:
        errors = jsonschema.Draft202012Validator(schema).iter_errors(each["payload"])
        assert [error.message for error in errors] == []


def test_every_field_is_described() -> None:
    """As in the OpenAPI documents."""
    missing = [
        f"{shape}.{field}"
        for shape, schema in DOCUMENT["components"]["schemas"].items()
        for field, each in schema.get("properties", {}).items()
        if not each.get("description")
    ]
    assert missing == []
