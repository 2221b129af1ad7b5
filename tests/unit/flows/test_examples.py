"""The guide's example documents match the guide and pass every check."""

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from engine.flows.check import check_graph
from engine.flows.requests import check_request
from tests.harness.scenarios.graphs import graph
from wire.request import ApiRequest
from wire.schemas import flow_schema, request_schema
from wire.tree import Limits

DOCS = Path(__file__).parents[3] / "docs"
REQUEST_ID = "65f0c0ffee0123456789abcd"


def example(name: str) -> Any:
    """Read an example document."""
    return json.loads((DOCS / "examples" / name).read_text())


def test_they_pass_every_check() -> None:
    """The flow and its request could be stored as they are."""
    document = example("support-request.json")
    check_request(document, Limits())
    request = msgspec.convert(document, ApiRequest)
    check_graph(example("support-flow.json"), Limits(), {REQUEST_ID: request})


def test_the_guide_contains_the_request() -> None:
    """The guide prints the file verbatim."""
    assert (DOCS / "examples/support-request.json").read_text() in (DOCS / "flows.md").read_text()


def test_the_published_schemas_accept_them() -> None:
    """The schemas accept the examples, and reject an unknown field."""
    jsonschema.validate(example("support-request.json"), request_schema())
    flow = example("support-flow.json")
    jsonschema.validate(flow, flow_schema())
    jsonschema.validate(graph(random.Random(1)), flow_schema())
    flow["nodes"]["bye"]["action"] = {"type": "hangup"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(flow, flow_schema())
