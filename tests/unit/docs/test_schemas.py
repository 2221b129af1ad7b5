"""The JSON Schemas in docs/schemas are those of the code."""

import json
from pathlib import Path

import pytest

from wire.schemas import DOCUMENTS

FOLDER = Path(__file__).parents[3] / "docs/schemas"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_published_schema_is_the_codes(name: str) -> None:
    """`make docs` writes it."""
    published = json.loads((FOLDER / name).read_text())
    assert published == json.loads(json.dumps(DOCUMENTS[name]()))
