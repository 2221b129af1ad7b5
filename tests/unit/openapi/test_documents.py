"""Both OpenAPI documents: names, descriptions, examples and patterns that clients can use."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from tests.harness.openapi.patterns import patterns_of
from tools.docs.reference.openapi import DOCUMENTS
from wire.error_codes.catalogue import CATALOGUE
from wire.openapi.document import TEXTS, operations
from wire.openapi.responses import STATUSES

OPERATION_ID = re.compile(r"[a-z][a-zA-Z]*\.[a-z][a-zA-Z]*")
# RE2 (Go, C++) and Rust have neither look-around nor back references, and count to 1,000.
NOT_PORTABLE = re.compile(r"\(\?(?!:)|\\[1-9AZzGQEPpuXCKR]|\{(\d{4,}|\d+,\d{4,})\}")
pytestmark = pytest.mark.parametrize("name", DOCUMENTS)


def names_of(document: dict[str, Any]) -> list[str]:
    """Return the ids of all operations."""
    return [each["operationId"] for each in operations(document)]


def fields_of(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each field of a schema and each parameter, with the name of its shape or operation."""
    for name, schema in document["components"]["schemas"].items():
        for field, each in schema.get("properties", {}).items():
            yield name, field, each
    for operation in operations(document):
        for each in operation.get("parameters", ()):
            yield operation["operationId"].partition(".")[0], each["name"], each


def test_ids_are_a_noun_and_a_verb(name: str) -> None:
    """Each operation has an id of its own, as clients name the method: `calls.create`."""
    found = names_of(DOCUMENTS[name]())
    assert [each for each in found if not OPERATION_ID.fullmatch(each)] == []
    assert sorted(found) == sorted(set(found))
    assert {"calls.create", "calls.mute", "calls.list", "agents.list"} <= {*found}


def test_an_alias_names_its_operation(name: str) -> None:
    """Another path of an operation is deprecated, and names the one to use."""
    document = DOCUMENTS[name]()
    for each in operations(document):
        if each.get("deprecated"):
            named = re.search(r"Another path of `([^`]+)`", each["description"])
            assert named, each["operationId"]
            assert named[1] in names_of(document), each["operationId"]


def test_tags_are_described_and_ordered(name: str) -> None:
    """Each operation has one of the document's tags, and each tag has operations."""
    document = DOCUMENTS[name]()
    described = [each["name"] for each in document["tags"] if each["description"]]
    used = {tag for each in operations(document) for tag in each["tags"]}
    assert used == {*described}
    assert len(described) == len(set(described))


def test_the_document_names_its_server_and_version(name: str) -> None:
    """Clients find the version, the license, a contact, the server and its security."""
    document = DOCUMENTS[name]()
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", document["info"]["version"])
    assert document["info"]["license"]["identifier"] == "Apache-2.0"
    assert document["info"]["contact"]
    assert document["servers"]
    schemes = document["components"]["securitySchemes"].values()
    assert "bearer" in {each.get("scheme") for each in schemes}
    for each in operations(document):
        assert "security" in each or "security" in document, each["operationId"]


def test_patterns_are_portable(name: str) -> None:
    """Every pattern means the same in ECMA 262, RE2 and Rust."""
    found = {*patterns_of(DOCUMENTS[name]())}
    assert len(found) > 15
    assert [each for each in found if NOT_PORTABLE.search(each)] == []
    assert [each for each in found if each.startswith("^") != each.endswith("$")] == []


def test_every_field_is_described(name: str) -> None:
    """Every field and parameter says what it is, and does not only repeat its name."""
    for shape, field, schema in fields_of(DOCUMENTS[name]()):
        text = schema.get("description", "")
        assert text, f"{shape}.{field}"
        assert text.rstrip(".").lower() != field.lower(), f"{shape}.{field}"


def test_examples_are_valid(name: str) -> None:
    """Each request, success and problem has an example, which its schema allows."""
    document = DOCUMENTS[name]()
    components = document["components"]
    for operation in operations(document):
        parts = {"request": operation.get("requestBody", {}), **operation["responses"]}
        for part, described in parts.items():
            for content in described.get("content", {}).values():
                where = f"{operation['operationId']} {part}"
                if not content.get("schema"):
                    continue
                examples = [content["example"]] if "example" in content else []
                examples += [each["value"] for each in content.get("examples", {}).values()]
                assert examples, where
                schema = {**content["schema"], "components": components}
                validator = jsonschema.Draft202012Validator(schema)
                for each in examples:
                    errors = [error.message for error in validator.iter_errors(each)]
                    assert errors == [], where


def test_responses_have_texts_of_their_own(name: str) -> None:
    """A response says what it contains; an error lists its codes."""
    for each in operations(DOCUMENTS[name]()):
        for status, response in each["responses"].items():
            assert response["description"].rstrip(".") != each["summary"].rstrip("."), each[
                "operationId"
            ]
            if status.isdigit() and int(status) in STATUSES:
                assert STATUSES[int(status)].codes[0] in response["description"]


def test_texts_are_used(name: str) -> None:
    """No text describes a field that neither document has."""
    used = {
        key
        for document in DOCUMENTS.values()
        for shape, field, _ in fields_of(document())
        for key in (field, f"{shape}.{field}")
    }
    assert [each for each in TEXTS if each not in used] == []
    assert name in DOCUMENTS


def test_codes_of_responses_are_in_the_table(name: str) -> None:
    """Each code that the description of a status names is in the table, with that status."""
    for status, each in STATUSES.items():
        assert [code for code in each.codes if status not in CATALOGUE[code].statuses] == []
    assert name in DOCUMENTS
