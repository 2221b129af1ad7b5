"""Fixtures of the PBX tests."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab, open_lab
from tests.harness.pbx.asterisk import SHORT_RTP_TIMEOUT_S


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def strict_servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Lab]:
    """Start a PBX with a trusted trunk, all codecs and a short RTP timeout."""
    settings = {"TRUNK_TRUSTED": "yes", "AGENT_CODECS": "ulaw,alaw,g722,opus"}
    folder = tmp_path_factory.mktemp("strict")
    async with open_lab(folder, rtp_timeout_s=SHORT_RTP_TIMEOUT_S, settings=settings) as lab:
        yield lab


@pytest.fixture
async def strict(strict_servers: Lab) -> AsyncIterator[Lab]:
    yield strict_servers
    await strict_servers.wait_empty()
