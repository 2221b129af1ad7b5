"""Both published OpenAPI documents as files, and the npm packages that read them."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.contract.openapi.node_tools import FOLDER
from tests.harness import npm
from tools.docs.reference.openapi import DOCUMENTS


@pytest.fixture
def documents(tmp_path: Path) -> dict[str, Path]:
    """Return the files of the documents, by name."""
    found = {name: tmp_path / f"{name}.json" for name in DOCUMENTS}
    for name, path in found.items():
        path.write_text(json.dumps(DOCUMENTS[name]()))
    return found


@pytest.fixture
async def packages() -> None:
    """Install the packages; skip without npm or its registry."""
    if reason := await asyncio.to_thread(npm.install_locked, FOLDER):
        pytest.skip(reason)
