"""Fixtures of the tests of transcripts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.api.transcripts.scene import TranscriptScene, transcript_scene_with
from tests.harness.api.databases import sqlite_url
from tests.harness.api.transcripts.simulated_recognizer import SimulatedRecognizer
from tests.harness.rpc.scene import RpcScene


@pytest.fixture
async def simulated() -> AsyncIterator[SimulatedRecognizer]:
    """Run a simulated recognizer."""
    async with SimulatedRecognizer() as server:
        yield server


@pytest.fixture
async def transcript_scene(
    database_url: str, scene: RpcScene, simulated: SimulatedRecognizer
) -> AsyncIterator[TranscriptScene]:
    """Provide the REST layer with the simulated recognizer, on either database."""
    async with transcript_scene_with(database_url, scene, simulated.address) as made:
        yield made


@pytest.fixture
async def one(
    tmp_path: Path, scene: RpcScene, simulated: SimulatedRecognizer
) -> AsyncIterator[TranscriptScene]:
    """Provide the same on SQLite, for tests that do not depend on the database."""
    async with transcript_scene_with(sqlite_url(tmp_path), scene, simulated.address) as made:
        yield made
