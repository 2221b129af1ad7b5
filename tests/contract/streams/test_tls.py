"""TLS to bots, as customers have it, to the PBX, and of the gateway itself."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.contract.streams.conftest import Streams
from tests.harness.servers.tls_files import TlsFiles
from tests.harness.streams.gateway import GatewayClient, GatewayProcess
from tests.harness.streams.simulated_pbx import SimulatedPbx
from tests.harness.streams.twilio_bot import TwilioBot
from tests.harness.until import until

LOUD = b"\x80\x00" * 80


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    """Make a CA and certificates for 127.0.0.1."""
    return TlsFiles(tmp_path_factory.mktemp("tls"), ["bot", "pbx", "gateway"])


@pytest.fixture
async def secure_bot(files: TlsFiles) -> AsyncIterator[TwilioBot]:
    """Run a bot that echoes, over TLS."""
    server = TwilioBot(is_echo=True)
    await server.start(files.served("bot"))
    yield server
    await server.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trusting_gateway(
    tmp_path_factory: pytest.TempPathFactory, files: TlsFiles
) -> AsyncIterator[GatewayProcess]:
    """Run a gateway that trusts this CA."""
    gateway = GatewayProcess(
        tmp_path_factory.mktemp("trusting"),
        SWITCHROOM_STREAMS_CA=str(files.ca),
        SWITCHROOM_TLS_CA=str(files.ca),
        SWITCHROOM_STREAMS_TLS_CERT=str(files.cert("gateway")),
        SWITCHROOM_STREAMS_TLS_KEY=str(files.key("gateway")),
    )
    gateway.trust = files.trust
    async with gateway:
        yield gateway


@pytest.fixture
async def trusting(
    trusting_gateway: GatewayProcess, files: TlsFiles
) -> AsyncIterator[GatewayClient]:
    """Return an engine that reads the reports of that gateway."""
    client = GatewayClient(trusting_gateway.url, trust=files.trust)
    await client.read()
    yield client
    await client.close()


@pytest.fixture
async def secure_pbx(files: TlsFiles) -> AsyncIterator[SimulatedPbx]:
    """Run a simulated PBX, over TLS."""
    server = SimulatedPbx()
    await server.start(files.served("pbx"))
    yield server
    await server.stop()


async def test_audio_over_tls(
    trusting: GatewayClient, secure_pbx: SimulatedPbx, secure_bot: TwilioBot
) -> None:
    """Both ways, on all connections, and the end of what the bot closes."""
    name, channel = await Streams(trusting, secure_pbx).start(secure_bot.url)
    await trusting.wait_for(name, "connected")
    channel.to_say.extend([LOUD] * 10)
    await until(lambda: len(channel.audio()) == 10, what="the echo")
    await secure_bot.close(1011)
    ended = await trusting.wait_for(name, "ended")
    assert (ended["reason"], ended["detail"]) == ("bot-lost", "closed with 1011")


async def test_a_certificate_of_another_host(
    trusting: GatewayClient, pbx: SimulatedPbx, secure_bot: TwilioBot
) -> None:
    """It is that of 127.0.0.1."""
    url = secure_bot.url.replace("127.0.0.1", "localhost")
    name, _ = await Streams(trusting, pbx).start(url)
    ended = await trusting.wait_for(name, "ended")
    assert ended["reason"] == "unreachable"
    assert "certificate" in ended["detail"].lower()


async def test_a_pbx_without_a_valid_certificate(
    engine: GatewayClient, secure_pbx: SimulatedPbx, bot: TwilioBot
) -> None:
    """Nothing is sent to it."""
    name, _ = await Streams(engine, secure_pbx).start(bot.url)
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "pbx-unreachable"


async def test_a_certificate_of_nobody(
    streams: Streams, engine: GatewayClient, secure_bot: TwilioBot
) -> None:
    """The system's CAs have not signed it."""
    name, _ = await streams.start(secure_bot.url)
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "unreachable"
    assert "certificate" in ended["detail"].lower()
