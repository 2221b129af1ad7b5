"""Bots and recognizers that flood: each loses its own stream, and no other audio is late."""

import asyncio
import secrets
import time
from collections.abc import Iterator

import pytest

from tests.contract.streams.conftest import Streams
from tests.harness.streams.flooding import FloodingServer
from tests.harness.streams.gateway import GatewayClient, GatewayProcess
from tests.harness.streams.simulated_pbx import FRAME_S, SimulatedChannel
from tests.harness.streams.twilio_bot import TwilioBot
from tests.harness.until import until

LOUD = b"\x80\x00" * 80
FRAMES = 1_500  # half a minute
FLOODED_S = 1.0
MAX_LATE_MS = 200  # with a busy machine; a flood that is read to its end takes seconds
RECOGNIZERS = {"interims", "large-interims", "utterances"}


@pytest.fixture(scope="session")
def flooding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FloodingServer]:
    """Run the bots and recognizers that flood."""
    server = FloodingServer(tmp_path_factory.mktemp("flooding"))
    asyncio.run(server.start())
    yield server
    asyncio.run(server.stop())


@pytest.fixture(scope="session")
def shared_gateway(
    tmp_path_factory: pytest.TempPathFactory, flooding: FloodingServer
) -> Iterator[GatewayProcess]:
    """Run a gateway whose recognizers flood."""
    gateway = GatewayProcess(
        tmp_path_factory.mktemp("gateway"),
        SWITCHROOM_STREAMS_RECOGNIZERS=flooding.url,
        SWITCHROOM_SPEECH_TOKEN=secrets.token_urlsafe(32),
    )
    asyncio.run(gateway.start())
    yield gateway
    asyncio.run(gateway.stop())


@pytest.mark.parametrize(
    ("flood", "reason", "detail"),
    [
        ("interims", "too-fast", "5000 frames in a second"),
        ("large-interims", "too-fast", "64000000 bytes in ten seconds"),
        ("utterances", "too-fast", "50 utterances in ten seconds"),
        ("marks", "invalid-message", "too many marks"),
        ("unknown-texts", "too-fast", "64000000 bytes in ten seconds"),
        ("junk", "invalid-message", "JSON"),
        ("audio", "too-fast", "5000 frames in a second"),
        ("large-audio", "too-fast", "ten minutes of audio"),
        ("ten-megabytes", "too-large", "1000000 bytes"),
        ("binary", "invalid-message", "binary"),
        ("parts", "too-fast", "5000 frames in a second"),
        ("pings", "too-fast", "5000 frames in a second"),
        ("pongs", "too-fast", "5000 frames in a second"),
        ("pongs-at-once", "too-fast", "5000 frames in a second"),
        ("reserved", "bot-lost", "invalid opcode"),
    ],
)
async def test_a_flood_delays_no_other_audio(  # noqa: PLR0913 - fixtures
    streams: Streams,
    engine: GatewayClient,
    bot: TwilioBot,
    flooding: FloodingServer,
    *,
    flood: str,
    reason: str,
    detail: str,
) -> None:
    """One after another, as engines try again."""
    _, channel = await streams.start(bot.url)
    await bot.connected.wait()
    await bot.say(LOUD * FRAMES)
    await until(lambda: len(channel.audio()) > 10, what="the audio")
    until_s = time.monotonic() + FLOODED_S
    while time.monotonic() < until_s:
        ended = await _flooded(streams, engine, flooding, flood)
        assert ended["reason"] == reason
        assert detail in ended["detail"]
    assert late_ms(channel) < MAX_LATE_MS


async def _flooded(
    streams: Streams, engine: GatewayClient, flooding: FloodingServer, flood: str
) -> dict[str, str]:
    """Set a stream up whose other end floods; return its last report."""
    # Of an account without other streams: what it has sent before is forgotten.
    account = "flooding"
    if flood in RECOGNIZERS:
        bot = {"protocol": "recognizer"}
        recognition = {"recognizer": flood, "start": {"type": "start"}}
        name, channel = await streams.start(
            "", bot=bot, account=account, isFork=True, recognition=recognition
        )
        channel.format, channel.silence = "slin", bytes(320)
    else:
        name, _ = await streams.start(f"{flooding.url}/{flood}", account=account)
    return await engine.wait_for(name, "ended")


def late_ms(channel: SimulatedChannel) -> float:
    """Return how much longer audio took than it is."""
    times = [at_s for at_s, frame in channel.played if frame != channel.silence]
    return 1000 * (times[-1] - times[0] - (len(times) - 1) * FRAME_S)
