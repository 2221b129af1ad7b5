"""Doctor checks of stream gateways: real ones, with and without recognizers, and what is none."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cli.doctor.gateways import check_gateways
from cli.doctor.result import Finding
from engine.settings.nodes import NodeSettings
from tests.harness.ports import free_port
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.servers.stream_gateway import StreamGateway
from tests.harness.settings import SECRET, read_settings

TOKEN = secrets.token_hex(16)


@pytest.fixture
async def speech(tmp_path: Path) -> AsyncIterator[SpeechProcess]:
    async with SpeechProcess(tmp_path / "speech") as server:
        yield server


async def findings(*urls: str, token: str = TOKEN) -> list[Finding]:
    """Check a node with these gateways."""
    node = NodeSettings.model_validate(
        {
            "name": "pbx1",
            "url": "http://127.0.0.1:8088",
            "password": SECRET,
            "stream_gateways": list(urls),
        }
    )
    return await check_gateways(read_settings({"streams_token": token}), node, None)


async def test_a_gateway_with_recognizers(tmp_path: Path, speech: SpeechProcess) -> None:
    async with StreamGateway(tmp_path / "streams", TOKEN, speech) as gateway:
        found = await findings(gateway.url)
        assert [each.level for each in found] == ["OK", "OK"]
        assert found[1].text == "recognizers: grammar (en)"
        await speech.kill()
        without = (await findings(gateway.url))[1]
    assert (without.level, without.code) == ("WARN", "no_recognizers")


async def test_a_gateway_without_recognizers(tmp_path: Path) -> None:
    """Bots need none: it is a warning."""
    async with StreamGateway(tmp_path / "streams", TOKEN) as gateway:
        takes, without = await findings(gateway.url)
        assert takes.level == "OK"
        assert (without.level, without.code) == ("WARN", "no_recognizers")
        assert "SWITCHROOM_STREAMS_RECOGNIZERS is not set" in without.text
        (refused,) = await findings(gateway.url, token=SECRET)
        assert (refused.level, refused.code) == ("FAIL", "gateway_refused")


async def test_no_gateway_at_the_address() -> None:
    (found,) = await findings(f"http://127.0.0.1:{free_port()}")
    assert (found.level, found.code) == ("FAIL", "gateway_unreachable")


async def test_a_node_without_gateways() -> None:
    assert await findings() == []
