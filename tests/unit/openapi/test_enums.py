"""Models of enums: clients get one class for each set of words."""

from typing import Any

import pytest

from api.http.openapi_document import Application
from tools.docs.reference.openapi import DOCUMENTS
from wire.openapi.document import operations
from wire.openapi.enums import NAMES, name_enums


def inline_enums(value: Any) -> list[Any]:
    """Return the enums in a schema."""
    if isinstance(value, list):
        return [found for each in value for found in inline_enums(each)]
    if not isinstance(value, dict):
        return []
    own = [value["enum"]] if isinstance(value.get("enum"), list) else []
    return own + [found for each in value.values() for found in inline_enums(each)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_enum_is_a_model(name: str) -> None:
    """No field and no parameter has an enum of its own, for which clients invent a name."""
    document = DOCUMENTS[name]()
    for shape, schema in document["components"]["schemas"].items():
        assert inline_enums(schema.get("properties", {})) == [], shape
    for operation in operations(document):
        assert inline_enums(operation.get("parameters", [])) == [], operation["operationId"]
        assert inline_enums(operation.get("requestBody", {})) == [], operation["operationId"]


def test_every_name_is_used() -> None:
    """No field is named that has no enum."""
    used = {name for each in DOCUMENTS.values() for name in each()["components"]["schemas"]}
    assert {*NAMES.values()} <= used


def test_one_word_is_a_constant() -> None:
    """The type of a verb is no enum: clients write it as a literal."""
    say = DOCUMENTS["rest"]()["components"]["schemas"]["Say"]
    assert say["properties"]["type"]["const"] == "say"


def test_words_that_differ_by_case_are_one() -> None:
    """Clients have one name for both; the server accepts both."""
    components: dict[str, Any] = {}
    name_enums({"enum": ["utility", "UTILITY", "one"]}, "NewTemplate", "category", components)
    assert components["TemplateCategory"]["enum"] == ["UTILITY", "one"]


def test_a_name_has_one_set_of_words() -> None:
    """Two fields with the same name for other words are an error, not one class for both."""
    components: dict[str, Any] = {}
    name_enums({"enum": ["a", "b"]}, "A", "presence", components)
    with pytest.raises(ValueError, match="AgentPresence has other words"):
        name_enums({"enum": ["a", "c"]}, "B", "presence", components)


def test_two_shapes_do_not_have_the_same_name() -> None:
    """The document of such an application is an error: one shape would describe both."""
    app = Application()
    for path, kind in (("/a", "string"), ("/b", "integer")):
        app.get(path, operation_id=f"a.{kind}", summary="A", openapi_extra=extra(kind))(
            lambda: None
        )
    with pytest.raises(ValueError, match="two shapes have the name Shape"):
        app.openapi()


def extra(kind: str) -> dict[str, Any]:
    """Return what a route says about its components."""
    return {"x-components": {"Shape": {"type": kind}}, "security": [{}]}
