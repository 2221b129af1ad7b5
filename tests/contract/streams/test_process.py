"""The gateway as a process: its start, its token, its end, and engines that come and go."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.contract.streams.conftest import Streams
from tests.harness.streams.gateway import TOKEN, GatewayClient, GatewayProcess
from tests.harness.streams.simulated_pbx import SimulatedPbx
from tests.harness.streams.twilio_bot import TwilioBot
from tests.harness.until import MAX_WAIT_S, until

DRAIN_S = 2


@pytest.fixture
async def own_gateway(tmp_path: Path) -> AsyncIterator[GatewayProcess]:
    """Run a gateway that a test stops: it waits for two seconds.

    It has room for three streams, two of them of one account.
    """
    gateway = GatewayProcess(
        tmp_path / "own", SWITCHROOM_STREAMS_DRAIN_S=str(DRAIN_S), SWITCHROOM_MAX_STREAMS="3"
    )
    await gateway.start()
    yield gateway
    await gateway.kill()


@pytest.fixture
async def own_engine(own_gateway: GatewayProcess) -> AsyncIterator[GatewayClient]:
    """Return an engine that reads the reports of that gateway."""
    client = GatewayClient(own_gateway.url)
    await client.read()
    yield client
    await client.close()


async def test_a_drain_waits_for_streams(
    own_gateway: GatewayProcess, own_engine: GatewayClient, pbx: SimulatedPbx, bot: TwilioBot
) -> None:
    """New ones are refused; the last ones are ended, and reported, before the process ends."""
    streams = Streams(own_engine, pbx)
    name, channel = await streams.start(bot.url)
    await own_engine.wait_for(name, "connected")
    os.kill(own_gateway.pid, signal.SIGTERM)
    await until(
        lambda: {"type": "draining"} in own_engine.reports, what=lambda: str(own_engine.reports)
    )
    status, body = await own_engine.request(
        "PUT", "/streams/late.w1", streams.setup("late.w1", bot.url)
    )
    assert (status, body["code"]) == (503, "unavailable")
    assert (await own_engine.request("GET", "/readyz"))[0] == 503
    played = len(channel.played)
    await until(lambda: len(channel.played) > played + 10, what="audio that goes on")
    assert (await own_engine.wait_for(name, "ended"))["reason"] == "drained"
    await until(lambda: not own_gateway.running(), what="the end")


async def test_an_engine_that_has_gone_already(own_gateway: GatewayProcess) -> None:
    """A busy gateway reads requests of engines that wait no longer: that is no error of it."""
    head = f"GET /reports HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {TOKEN}\r\n"
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    os.kill(own_gateway.pid, signal.SIGSTOP)
    for _ in range(10):
        _, writer = await asyncio.open_connection("127.0.0.1", own_gateway.port)
        writer.write((head + upgrade + key).encode())
        await writer.drain()
        writer.close()
    os.kill(own_gateway.pid, signal.SIGCONT)
    await until(own_gateway.is_ready, what="the gateway to respond")
    await own_gateway.stop()
    assert '"error"' not in own_gateway.log.read_text()


async def test_an_idle_gateway_ends_at_once(tmp_path: Path) -> None:
    """There is nothing to wait for."""
    gateway = GatewayProcess(tmp_path / "own", SWITCHROOM_STREAMS_DRAIN_S=str(2 * MAX_WAIT_S))
    await gateway.start()
    os.kill(gateway.pid, signal.SIGTERM)
    await until(lambda: not gateway.running(), what="the end")


async def test_a_full_gateway_takes_no_stream(
    own_engine: GatewayClient, pbx: SimulatedPbx, bot: TwilioBot, echo_bot: TwilioBot
) -> None:
    """Until one of them has ended; its last streams are for other accounts."""
    streams = Streams(own_engine, pbx)
    first, _ = await streams.start(bot.url)
    await streams.start(echo_bot.url)
    for name, account, status in (("c", "acme", 503), ("d", "other", 201), ("e", "third", 503)):
        setup = streams.setup(f"{name}.w1", bot.url, account=account)
        got, body = await own_engine.request("PUT", f"/streams/{name}.w1", setup)
        assert (got, body.get("code")) == (status, "unavailable" if status != 201 else None), name
    for name in (first, "d.w1"):
        await own_engine.request("DELETE", f"/streams/{name}")
    await own_engine.wait_for(first, "ended")
    await streams.start(echo_bot.url)


async def test_a_killed_gateway_ends_its_channels(
    own_gateway: GatewayProcess, own_engine: GatewayClient, pbx: SimulatedPbx, bot: TwilioBot
) -> None:
    """The PBX sees it at once."""
    name, channel = await Streams(own_engine, pbx).start(bot.url)
    await own_engine.wait_for(name, "connected")
    await own_gateway.kill()
    async with asyncio.timeout(MAX_WAIT_S):
        await channel.is_closed.wait()


async def test_an_engine_that_restarts_misses_nothing(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """Its snapshot has live streams, and what ended while nobody read."""
    name, channel = await streams.start(bot.url)
    await engine.wait_for(name, "connected")
    await bot.say(b"\x80\x00" * 80 * 10)
    await bot.mark("greeting")
    await engine.wait_for(name, "mark")
    await engine.stop_reading()
    await engine.read()
    live = {each["stream"]: each for each in engine.reports[-1]["live"]}
    assert live[name] == {
        "stream": name, "isConnected": True, "heardMs": 200, "lastMark": "greeting"
    }  # fmt: skip
    await engine.stop_reading()
    await bot.close()
    await channel.is_closed.wait()
    await engine.read()
    ended = {each["stream"]: each for each in engine.reports[-1]["ended"]}
    assert ended[name]["reason"] == "bot-closed"
    assert ended[name]["lastMark"] == "greeting"


async def test_two_engines_get_the_same(
    streams: Streams, engine: GatewayClient, shared_gateway: GatewayProcess, bot: TwilioBot
) -> None:
    """During a deployment there are two."""
    second = GatewayClient(shared_gateway.url)
    await second.read()
    name, _ = await streams.start(bot.url)
    assert await second.wait_for(name, "connected") == await engine.wait_for(name, "connected")
    await second.close()


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/streams/x"), ("DELETE", "/streams/x"), ("GET", "/reports")]
)
async def test_requests_need_the_token(
    shared_gateway: GatewayProcess, method: str, path: str
) -> None:
    """Health and metrics do not: they have no data of calls."""
    stranger = GatewayClient(shared_gateway.url, "w" * 40)
    status, body = await stranger.request(method, path)
    assert (status, body["code"]) == (401, "unauthenticated")
    assert (await stranger.request("GET", "/healthz"))[0] == 200
    await stranger.close()


async def test_reports_are_not_compressed(shared_gateway: GatewayProcess) -> None:
    """An engine may offer it, but each report would take time and memory of the gateway."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.ws_connect(shared_gateway.url + "/reports", compress=15) as socket,
    ):
        assert not socket.compress


async def test_the_metrics_page(
    shared_gateway: GatewayProcess, streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """It counts streams and names no call."""
    name, _ = await streams.start(bot.url)
    await engine.wait_for(name, "connected")
    async with (
        aiohttp.ClientSession() as session,
        session.get(shared_gateway.url + "/metrics") as response,
    ):
        page = await response.text()
        assert response.content_type == "text/plain"
    assert "switchroom_streams " in page
    assert 'switchroom_streams_started_total{protocol="twilio"}' in page
    assert name not in page


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "mediaUrl"),
        ({"mediaUrl": "ws://x", "bot": {"url": "wss://x", "protocol": "other"}}, "bot.protocol"),
        ({"mediaUrl": "ws://x", "bot": {"url": "wss://x", "protocol": "native", "rate": 1}},
         "bot.rate"),
    ],
)  # fmt: skip
async def test_an_invalid_setup_is_a_problem(
    engine: GatewayClient, body: object, field: str
) -> None:
    """That names the field."""
    status, problem = await engine.request("PUT", "/streams/x.w1", body)
    assert status == 400
    assert field in str(problem["errors"])


async def test_a_message_to_no_stream(engine: GatewayClient) -> None:
    """It may have ended."""
    body = {"type": "text", "text": "hello"}
    status, problem = await engine.request("PUT", "/streams/nowhere/messages/1", body)
    assert (status, problem["code"]) == (404, "not_found")
