"""Fixtures of the tests of recognizers."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.contract.speech.voices import Voices, open_voices
from tests.harness.ports import free_port
from tests.harness.servers.speech_process import SpeechProcess, whisper_model


@pytest.fixture(scope="session")
def voices() -> Iterator[Voices]:
    """Provide the neural voice."""
    with open_voices() as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def speech(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SpeechProcess]:
    """Run the recognizers that need no setting, for all tests that do not harm them."""
    async with SpeechProcess(tmp_path_factory.mktemp("speech")) as server:
        yield server


@pytest.fixture
async def own_speech(tmp_path: Path) -> AsyncIterator[SpeechProcess]:
    """Run recognizers that a test may harm."""
    async with SpeechProcess(tmp_path / "speech") as server:
        yield server


@pytest.fixture(scope="module")
def port() -> int:
    """Return the port of the doubles of a service: each test has its own."""
    return free_port()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(
    settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SpeechProcess]:
    """Run recognizers that know a service, for all tests that need no other setting."""
    async with SpeechProcess(tmp_path_factory.mktemp("speech"), **settings) as process:
        yield process


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def whisper(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SpeechProcess]:
    """Run recognizers, with one live stream of Whisper at a time: tests wait for its end."""
    settings = {
        "SWITCHROOM_SPEECH_WHISPER_MODEL": str(whisper_model()),
        "SWITCHROOM_SPEECH_WHISPER_STREAMS": "1",
    }
    async with SpeechProcess(tmp_path_factory.mktemp("whisper"), **settings) as server:
        yield server
