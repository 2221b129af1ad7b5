"""Fixtures of the PBX tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey import Valkey

RTP_TIMEOUT_S = 3


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def strict_servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Lab]:
    """Start a PBX with a trusted trunk, all codecs and a short RTP timeout."""
    folder: Path = tmp_path_factory.mktemp("strict")
    trunk_port = free_port()
    valkey = Valkey(folder / "valkey")
    settings = {"TRUNK_TRUSTED": "yes", "AGENT_CODECS": "ulaw,alaw,g722,opus"}
    pbx = Pbx(
        folder / "pbx1",
        trunk=f"sip:127.0.0.1:{trunk_port}",
        rtp_timeout_s=RTP_TIMEOUT_S,
        settings=settings,
    )
    lab = Lab(valkey, pbx, Engine(folder / "engine", valkey=valkey, nodes=[pbx]), trunk_port)
    try:
        await lab.ensure_running()
        yield lab
    finally:
        await lab.stop()


@pytest.fixture
async def strict(strict_servers: Lab) -> AsyncIterator[Lab]:
    yield strict_servers
    await strict_servers.wait_empty()
