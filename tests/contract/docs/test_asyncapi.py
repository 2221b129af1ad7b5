"""The AsyncAPI document, compared with the specification's own JSON Schema."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.harness.npm import install
from tools.docs.reference.asyncapi import asyncapi_document

PACKAGE = {"private": True, "dependencies": {"@asyncapi/specs": "6.11.1"}}
SCHEMA = "node_modules/@asyncapi/specs/schemas/3.0.0.json"


@pytest.fixture
def validator(tmp_path: Path) -> jsonschema.Draft7Validator:
    """Return what checks a document of AsyncAPI 3.0.0."""
    (tmp_path / "package.json").write_text(json.dumps(PACKAGE))
    if reason := install(tmp_path):
        pytest.skip(f"the schema of AsyncAPI is not there: {reason}")
    return jsonschema.Draft7Validator(json.loads((tmp_path / SCHEMA).read_text()))


def test_the_document_is_valid(validator: jsonschema.Draft7Validator) -> None:
    """The schema finds nothing wrong in it, but a wrong field."""
    document = json.loads(json.dumps(asyncapi_document()))
    assert [error.message for error in validator.iter_errors(document)] == []
    document["channels"]["accountEvents"]["addressing"] = "/"
    assert not validator.is_valid(document)
