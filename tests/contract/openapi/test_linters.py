"""Spectral and Redocly find nothing in the OpenAPI documents that has no stated reason."""

import asyncio
from pathlib import Path

import pytest

from tests.contract.openapi.node_tools import (
    LINTERS,
    AllowedWarning,
    Finding,
    allowed_warnings,
    differences,
)
from tools.docs.reference.openapi import DOCUMENTS

FOUND = Finding("spectral", "no-tag", "paths./a.get", "has no tag")
ALLOWED = AllowedWarning("spectral", "rest", "no-tag", "paths.*", "has *", "A reason.")


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("tool", LINTERS)
@pytest.mark.parametrize("name", DOCUMENTS)
async def test_every_warning_has_a_reason(name: str, tool: str, documents: dict[str, Path]) -> None:
    """All warnings are listed in allowed_warnings.toml, and all that it lists occur."""
    found = await asyncio.to_thread(lambda: [*LINTERS[tool](documents[name])])
    assert differences(found, allowed_warnings(tool, name)) == []


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("tool", LINTERS)
async def test_a_linter_finds_an_error(tool: str, tmp_path: Path) -> None:
    """An operation without responses is reported: the linter does read the document."""
    path = tmp_path / "bad.json"
    path.write_text('{"openapi": "3.1.0", "info": {"title": "A"}, "paths": {"/a": {"get": {}}}}')
    found = await asyncio.to_thread(lambda: [*LINTERS[tool](path)])
    assert any("/get" in each.where or "get" in each.where.split(".") for each in found)


def test_an_unlisted_warning_is_wrong() -> None:
    """A warning fails the test unless rule, place and message are listed."""
    assert differences([FOUND], [ALLOWED]) == []
    assert differences([FOUND], []) == ["not listed: no-tag at paths./a.get: has no tag"]


def test_an_entry_that_matches_nothing_is_wrong() -> None:
    """The list does not keep what was repaired."""
    assert differences([], [ALLOWED]) == ["no longer occurs: no-tag at paths.*"]


def test_every_entry_has_a_document_and_a_reason() -> None:
    """No entry is for a document or a linter that does not exist."""
    listed = [
        each for tool in LINTERS for name in DOCUMENTS for each in allowed_warnings(tool, name)
    ]
    assert all(len(each.reason) > 40 for each in listed)
