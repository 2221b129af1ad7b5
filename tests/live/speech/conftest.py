"""A lab with speech recognizers: two stream gateways, and a process with grammars and Whisper."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab, open_lab
from tests.harness.servers.speech_process import whisper_model


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def speech_servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    folder = tmp_path_factory.mktemp("speech")
    settings = {"SWITCHROOM_SPEECH_WHISPER_MODEL": str(whisper_model())}
    async with open_lab(folder, gateways=2, has_speech=True, speech_settings=settings) as lab:
        yield lab


@pytest.fixture
async def lab(speech_servers: Lab) -> AsyncIterator[Lab]:
    """Return the running servers; no channel and no bridge may be left afterwards."""
    await speech_servers.ensure_running()
    yield speech_servers
    await speech_servers.ensure_running()
    try:
        await speech_servers.wait_empty()
    except TimeoutError:
        await speech_servers.pbx.kill()  # the next test starts with an empty one
        raise
