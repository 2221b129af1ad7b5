"""Recognizers that fail, are slow or are not there: each ends its own stream, and no other."""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator, Iterator

import pytest

from streams.bots.destinations import RecognizerServer
from streams.control.server import RecognizerDirectory
from tests.contract.streams.conftest import Streams
from tests.contract.streams.recognition.conftest import Listening, say
from tests.harness.ports import free_port
from tests.harness.streams.gateway import GatewayClient, GatewayProcess
from tests.harness.streams.odd_bots import answering, serving
from tests.harness.streams.simulated_recognizers import SimulatedRecognizers
from tests.harness.streams.twilio_bot import TwilioBot
from tests.harness.until import until
from wire.streams.recognizer import RecognizerList

LOUD = b"\x80\x00" * 80


@pytest.fixture(scope="session")
def simulated_port() -> int:
    """Return the port of simulated recognizers, which may be there or not."""
    return free_port()


@pytest.fixture(scope="session")
def shared_gateway(
    tmp_path_factory: pytest.TempPathFactory, simulated_port: int
) -> Iterator[GatewayProcess]:
    """Run a gateway whose recognizers are simulated."""
    gateway = GatewayProcess(
        tmp_path_factory.mktemp("gateway"),
        SWITCHROOM_STREAMS_RECOGNIZERS=f"ws://127.0.0.1:{simulated_port}/speech/",
        SWITCHROOM_SPEECH_TOKEN=secrets.token_urlsafe(32),
    )
    asyncio.run(gateway.start())
    yield gateway
    asyncio.run(gateway.stop())


@pytest.fixture
async def simulated(simulated_port: int) -> AsyncIterator[None]:
    """Run the simulated recognizers."""
    server = SimulatedRecognizers(simulated_port)
    await server.start()
    yield
    await server.stop()


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize(
    ("recognizer", "reason", "detail"),
    [
        ("overloaded", "bot-lost", "overloaded: simulated"),
        ("failed", "bot-lost", "failed: simulated"),
        ("unknown-words", "bot-closed", "unknown-words: simulated"),
        ("restarting", "bot-lost", "closed with 1001"),
        ("dying", "bot-lost", "the connection broke"),
        ("talking", "invalid-message", "`final` without what belongs to it"),
        ("never-ready", "unreachable", "no `ready` in 5 s"),
        ("never-reading", "bot-lost",
         "peer has not replied to ping/heartbeat request within 4.0 second(s)"),
        ("page", "no-websocket", "HTTP 200; a websocket begins with 101"),
        ("redirect", "no-websocket", "HTTP 302; a websocket begins with 101"),
        ("unavailable", "no-websocket", "HTTP 503; a websocket begins with 101"),
        ("forbidden", "bot-lost",
         "HTTP 403: the recognizers did not accept the gateway's SWITCHROOM_SPEECH_TOKEN"),
    ],
)  # fmt: skip
async def test_it_ends_with_a_reason(
    listening: Listening, engine: GatewayClient, recognizer: str, reason: str, detail: str
) -> None:
    """What another attempt may change is not final; no address of the operator is in it."""
    name, channel = await listening.start(recognizer)
    ended = await engine.wait_for(name, "ended")
    assert (ended["reason"], ended["detail"]) == (reason, detail)
    await channel.is_closed.wait()


async def test_a_server_that_is_not_there(listening: Listening, engine: GatewayClient) -> None:
    """The reason names it."""
    name, _ = await listening.start()
    ended = await engine.wait_for(name, "ended")
    assert (ended["reason"], ended["detail"]) == (
        "unreachable",
        "the server of recognizers: Connection refused",
    )


async def test_a_server_without_a_list_of_recognizers() -> None:
    """The reason names the address that answered with something else."""
    page = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"
    async with serving(answering(page)) as url:
        server = RecognizerServer(url, secrets.token_urlsafe(32))
        found = await RecognizerDirectory(server, ssl.create_default_context()).read()
    address = url.replace("ws", "http", 1)
    assert found == RecognizerList(error=f"{address}/recognizers: no list of recognizers")


@pytest.mark.usefixtures("simulated")
async def test_other_streams_notice_nothing(
    listening: Listening, streams: Streams, engine: GatewayClient, echo_bot: TwilioBot
) -> None:
    """Of one that does not read, and of those that end meanwhile."""
    other, channel = await streams.start(echo_bot.url)
    await engine.wait_for(other, "connected")
    stuck, stuck_channel = await listening.start("never-reading")
    await engine.wait_for(stuck, "connected")
    stuck_channel.say_faster(100)
    for recognizer in ("dying", "page", "overloaded"):
        name, _ = await listening.start(recognizer)
        await engine.wait_for(name, "ended")
    ended = await engine.wait_for(stuck, "ended", timeout_s=30)
    assert ended["reason"] in {"slow-reader", "bot-lost"}  # it answers no ping either
    channel.to_say.append(LOUD)
    await until(lambda: channel.audio() == [LOUD], what="the echo of another call")


@pytest.mark.usefixtures("simulated")
async def test_a_prompt_is_not_left_paused(listening: Listening, engine: GatewayClient) -> None:
    """By a recognizer that dies while a sound is judged."""
    name, channel = await listening.start("dying", barge_in="pause")
    say(channel, b"\x00\x20" * 160 * 50)
    await engine.wait_for(name, "ended")
    outcomes = [each["outcome"] for each in engine.of(name, "barge-in")]
    assert outcomes in ([], ["paused", "resumed"], ["paused", "flushed"])
