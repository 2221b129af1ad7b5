"""The documents of a REST layer."""

import pytest

from api.documents.plugin import DocumentSlice
from tests.harness.api.rest import Rest


@pytest.fixture
def documents(kept: Rest) -> DocumentSlice:
    """Provide the documents of the REST layer."""
    return kept.services.documents
