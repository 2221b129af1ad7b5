"""Fixtures of recognition: a real gateway and real recognizers, and a caller with a voice."""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.contract.speech.voices import Voices, open_voices
from tests.harness.servers.speech_process import SpeechProcess, gateway_settings
from tests.harness.streams.gateway import GatewayClient, GatewayProcess
from tests.harness.streams.simulated_pbx import SimulatedChannel, SimulatedPbx

FRAME_BYTES = 320  # 20 ms of slin
_numbers = count(1)


@pytest.fixture(scope="session")
def shared_speech(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpeechProcess]:
    """Run the grammar recognizer for all tests that do not stop it."""
    speech = SpeechProcess(tmp_path_factory.mktemp("speech"))
    asyncio.run(speech.start())
    yield speech
    asyncio.run(speech.stop())


@pytest.fixture(scope="session")
def shared_gateway(
    tmp_path_factory: pytest.TempPathFactory, shared_speech: SpeechProcess
) -> Iterator[GatewayProcess]:
    """Run a gateway that knows these recognizers."""
    gateway = GatewayProcess(tmp_path_factory.mktemp("gateway"), **gateway_settings(shared_speech))
    asyncio.run(gateway.start())
    yield gateway
    asyncio.run(gateway.stop())


@pytest.fixture(scope="session")
def voices() -> Iterator[Voices]:
    """Provide the neural voice."""
    with open_voices() as made:
        yield made


class Listening:
    """Sets streams to recognizers up, as an engine does."""

    def __init__(self, engine: GatewayClient, pbx: SimulatedPbx) -> None:
        self._engine = engine
        self._pbx = pbx

    async def start(
        self, recognizer: str = "grammar", barge_in: str = "off", **start: Any
    ) -> tuple[str, SimulatedChannel]:
        """Set one up; return its id and the channel of its caller."""
        name = f"gather-{next(_numbers)}.w1"
        channel = self._pbx.add(name, "slin", FRAME_BYTES)
        recognition = {"recognizer": recognizer, "start": {"type": "start", **start}}
        body = {
            "mediaUrl": f"{self._pbx.url}/media/{name}",
            "bot": {"url": "", "protocol": "recognizer"}, "account": "acme", "callId": "call-1",
            "track": "caller", "isFork": True, "bargeIn": barge_in, "recognition": recognition,
        }  # fmt: skip
        assert (await self._engine.request("PUT", f"/streams/{name}", body))[0] == 201
        return name, channel


@pytest.fixture
def listening(engine: GatewayClient, pbx: SimulatedPbx) -> Listening:
    """Return what sets streams to recognizers up."""
    return Listening(engine, pbx)


def say(channel: SimulatedChannel, *parts: bytes) -> None:
    """Have the caller say something, in time."""
    audio = b"".join(parts)
    for start in range(0, len(audio), FRAME_BYTES):
        channel.to_say.append(audio[start : start + FRAME_BYTES].ljust(FRAME_BYTES, b"\x00"))
