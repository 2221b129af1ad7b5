"""The JSON Schemas in docs/schemas are those of the code."""

import json
from pathlib import Path

import jsonschema
import pytest

from wire.schemas import DOCUMENTS

FOLDER = Path(__file__).parents[3] / "docs/schemas"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_published_schema_is_the_codes(name: str) -> None:
    """`make docs` writes it."""
    published = json.loads((FOLDER / name).read_text())
    assert published == json.loads(json.dumps(DOCUMENTS[name]()))


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
