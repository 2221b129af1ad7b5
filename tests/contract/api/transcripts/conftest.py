"""Fixtures of the tests of transcripts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.api.databases import sqlite_url
from tests.contract.api.transcripts.scene import Scene, scene_with
from tests.contract.api.transcripts.simulated_recognizer import SimulatedRecognizer
from tests.contract.rpc.harness.bench import Bench


@pytest.fixture
async def simulated() -> AsyncIterator[SimulatedRecognizer]:
    """Run a simulated recognizer."""
    async with SimulatedRecognizer() as server:
        yield server


@pytest.fixture
async def scene(
    database_url: str, bench: Bench, simulated: SimulatedRecognizer
) -> AsyncIterator[Scene]:
    """Provide the REST layer with the simulated recognizer, on either database."""
    async with scene_with(database_url, bench, simulated.address) as made:
        yield made


@pytest.fixture
async def one(tmp_path: Path, bench: Bench, simulated: SimulatedRecognizer) -> AsyncIterator[Scene]:
    """Provide the same on SQLite, for tests that do not depend on the database."""
    async with scene_with(sqlite_url(tmp_path), bench, simulated.address) as made:
        yield made
