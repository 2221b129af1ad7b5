"""Fixtures of the tests of calls' pages."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.live_lab import Lab
from tests.harness.servers.api import Api


@pytest.fixture
async def api(lab: Lab, tmp_path: Path, account: str) -> AsyncIterator[Api]:
    """Run a REST layer that serves the engine's recordings."""
    settings = {"SWITCHROOM_RECORDINGS_URL": f"file://{lab.engine.recordings}"}
    served = Api(tmp_path / "api", engines=[lab.engine], settings=settings, account=account)
    async with served as api:
        yield api
