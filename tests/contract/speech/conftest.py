"""Fixtures of the tests of recognizers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.speech.voices import Voices
from tests.harness.servers.speech_process import SpeechProcess


@pytest.fixture(scope="session")
def rendered() -> dict[tuple[str, int], bytes]:
    """Keep what was spoken, for all tests."""
    return {}


@pytest.fixture
async def voices(rendered: dict[tuple[str, int], bytes]) -> AsyncIterator[Voices]:
    """Provide the neural voice."""
    made = Voices(rendered)
    yield made
    await made.close()


@pytest.fixture
async def speech(tmp_path: Path) -> AsyncIterator[SpeechProcess]:
    """Run the recognizers that need no setting."""
    async with SpeechProcess(tmp_path / "speech") as server:
        yield server
