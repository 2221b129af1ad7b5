"""The published JSON Schemas."""

import jsonschema
import pytest

from wire.schemas import DOCUMENTS


def test_an_action_is_a_verb_or_an_address() -> None:
    """The schema accepts what the decoder accepts, and rejects an unknown field."""
    schema = DOCUMENTS["action.json"]()
    verb = {"type": "say", "data": {"text": "Hello"}, "action": "https://example.com/menu"}
    jsonschema.validate(verb, schema)
    jsonschema.validate("https://example.com/menu", schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**verb, "loudness": 3}, schema)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_fields_of_a_schema_are_described(name: str) -> None:
    """An editor shows what a field means."""
    schema = DOCUMENTS[name]()
    for shape, each in {**schema["$defs"], name: schema}.items():
        for field, inner in each.get("properties", {}).items():
            assert inner.get("description"), f"{shape}.{field}"
