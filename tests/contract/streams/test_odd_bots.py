"""Bots that misbehave: each ends its own stream with a reason, and nobody else's."""

import asyncio
import base64
import json

import pytest

from tests.contract.streams.conftest import Streams
from tests.harness.ports import free_port
from tests.harness.streams.gateway import GatewayClient
from tests.harness.streams.odd_bots import (
    BINARY,
    CLOSE,
    TEXT,
    Behaviour,
    answering,
    frame,
    sending,
    serving,
    silent,
)
from tests.harness.streams.twilio_bot import TwilioBot
from tests.harness.until import until

LOUD = b"\x80\x00" * 80


def media(audio: bytes) -> bytes:
    """Return a frame with audio in Twilio's protocol."""
    payload = base64.b64encode(audio).decode()
    return frame(TEXT, json.dumps({"event": "media", "media": {"payload": payload}}).encode())


@pytest.mark.parametrize(
    ("behaviour", "reason", "detail"),
    [
        (answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), "no-websocket", "HTTP 200"),
        (answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "no-websocket", "404"),
        (answering("HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/x\r\n\r\n"), "no-websocket",
         "HTTP 302"),
        (answering("<html><body>hello</body></html>\r\n\r\n"), "no-websocket", ""),
        (answering(""), "unreachable", ""),
        (sending(frame(CLOSE, b"\x03\xe8")), "bot-closed", ""),
        (sending(frame(CLOSE, b"")), "bot-closed", ""),
        (sending(frame(CLOSE, b"\x03\xf4again")), "bot-lost", "closed with 1012 again"),
        (sending(frame(CLOSE, b"\x03\xf3")), "bot-lost", "closed with 1011"),
        (sending(b"\xff\xff\xff\xff" * 10), "bot-lost", ""),
        (sending(frame(TEXT, b"x" * 10_000_000)), "too-large", "1000000 bytes"),
        (sending(*[frame(TEXT, b"x" * 400_000, is_last=False)] +
                 [frame(0, b"x" * 400_000, is_last=False)] * 2), "too-large", "1000000 bytes"),
        (sending(*[frame(TEXT, b"junk")] * 30), "invalid-message", "JSON"),
        (sending(*[frame(TEXT, b"\xff\xfe")] * 30), "invalid-message", ""),
        (sending(*[frame(BINARY, LOUD)] * 30), "invalid-message", "binary"),
        (sending(*[frame(TEXT, b'{"event":"x"}') * 10_000]), "too-fast", "frames in a second"),
        (sending(*[media(LOUD * 500)] * 100), "too-fast", "ten minutes"),
    ],
)  # fmt: skip
async def test_it_ends_with_a_reason(
    streams: Streams, engine: GatewayClient, behaviour: Behaviour, reason: str, detail: str
) -> None:
    """Within the time of a connection; the PBX's end is closed after the report."""
    async with serving(behaviour) as url:
        name, channel = await streams.start(url)
        ended = await engine.wait_for(name, "ended")
        assert ended["reason"] == reason
        assert detail in ended.get("detail", "")
        await channel.is_closed.wait()


async def test_the_status_of_a_refusal_is_reported(streams: Streams, engine: GatewayClient) -> None:
    """An engine decides by it whether another try makes sense."""
    refusing = answering("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
    async with serving(refusing) as url:
        name, _ = await streams.start(url)
        ended = await engine.wait_for(name, "ended")
        assert (ended["reason"], ended["httpStatus"]) == ("no-websocket", 401)


async def test_a_bot_that_never_reads_is_dropped(
    streams: Streams, engine: GatewayClient, echo_bot: TwilioBot
) -> None:
    """After some seconds of audio; other streams notice nothing."""
    other, channel = await streams.start(echo_bot.url)
    await engine.wait_for(other, "connected")
    async with serving(sending(reads=False)) as url:
        name, stuck = await streams.start(url)
        await engine.wait_for(name, "connected")
        stuck.say_faster(100)
        ended = await engine.wait_for(name, "ended", timeout_s=30)
        assert ended["reason"] == "slow-reader"
    channel.to_say.append(LOUD)
    await until(lambda: channel.audio() == [LOUD], what="the echo of another call")


async def test_a_message_in_parts_is_one(streams: Streams, engine: GatewayClient) -> None:
    """Libraries may divide what is large."""
    text = b'{"event":"mark","mark":{"name":"hi"}}'
    parts = frame(TEXT, text[:9], is_last=False), frame(0, text[9:])
    async with serving(sending(*parts)) as url:
        name, _ = await streams.start(url)
        assert (await engine.wait_for(name, "mark"))["name"] == "hi"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ws://10.255.255.1:8765/bot", "address-refused"),
        ("wss://169.254.169.254/bot", "address-refused"),
        ("wss://[::1]/bot", "address-refused"),
        ("wss://127.0.0.1:22/bot", "address-refused"),
        ("http://127.0.0.1:8765/bot", "address-refused"),
        ("ws://", "address-refused"),
        ("wss://name.invalid/bot", "unreachable"),
    ],
)
async def test_an_address_is_refused(
    streams: Streams, engine: GatewayClient, url: str, reason: str
) -> None:
    """Private ones, ports of other services, and what is no address."""
    name, _ = await streams.start(url)
    assert (await engine.wait_for(name, "ended"))["reason"] == reason


async def test_no_private_address_is_reached_without_leave(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """Not even this machine's, whatever the name."""
    for url in (bot.url, bot.url.replace("127.0.0.1", "localhost")):
        name, _ = await streams.start(url, bot={"networks": []})
        assert (await engine.wait_for(name, "ended"))["reason"] == "address-refused"
    assert not bot.messages


async def test_tls_is_verified(streams: Streams, engine: GatewayClient, bot: TwilioBot) -> None:
    """A server that does not speak it is unreachable."""
    name, _ = await streams.start(bot.url.replace("ws:", "wss:"))
    assert (await engine.wait_for(name, "ended"))["reason"] == "unreachable"


async def test_a_hundred_streams_to_a_dead_host(
    streams: Streams, engine: GatewayClient, echo_bot: TwilioBot
) -> None:
    """None waits for another: all end before one that is set up later, under another name."""
    other, channel = await streams.start(echo_bot.url)
    await engine.wait_for(other, "connected")
    async with serving(silent) as url:
        names = [(await streams.start(url))[0] for _ in range(100)]
        last, _ = await streams.start(url.replace("127.0.0.1", "localhost"))
        channel.to_say.extend([LOUD] * 10)
        await until(lambda: len(channel.audio()) >= 8, what="the echo")
        assert not engine.of(last, "ended")
        await engine.wait_for(last, "ended", timeout_s=30)
    ends = [each for name in names for each in engine.of(name, "ended")]
    assert {each["stream"] for each in ends} == {*names}
    assert {each["reason"] for each in ends} == {"unreachable"}
    assert engine.of(names[0], "ended")[0]["detail"] == "no response in 5 s"
    assert 0 < sum("other connections" in each["detail"] for each in ends) <= 50


async def test_a_port_without_a_server(streams: Streams, engine: GatewayClient) -> None:
    """The reason names it."""
    name, _ = await streams.start(f"ws://127.0.0.1:{free_port()}/bot")
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "unreachable"
    assert "Connection refused" in ended["detail"]


async def test_marks_that_nobody_awaits(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """Fifty without audio come back, in order."""
    name, _ = await streams.start(bot.url)
    await bot.connected.wait()
    for number in range(50):
        await bot.mark(str(number))
    await until(lambda: len(bot.of("mark")) == 50, what="all marks")
    assert [each["mark"]["name"] for each in bot.of("mark")] == [*map(str, range(50))]
    await until(lambda: len(engine.of(name, "mark")) == 50, what="the reports of all")


async def test_far_more_marks_than_can_be_heard(streams: Streams, engine: GatewayClient) -> None:
    """They end the stream before engines are flooded."""
    text = b'{"event":"mark","mark":{"name":"hi"}}'
    async with serving(sending(*[frame(TEXT, text)] * 1_000)) as url:
        name, _ = await streams.start(url)
        assert (await engine.wait_for(name, "ended"))["reason"] == "invalid-message"
    assert len(engine.of(name, "mark")) <= 600


async def test_audio_at_ten_times_real_time_is_played_in_real_time(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """It waits in the gateway; that is no fault."""
    name, channel = await streams.start(bot.url)
    await bot.connected.wait()
    for _ in range(50):
        await bot.say(LOUD * 10)
        await asyncio.sleep(0.02)  # the speed of the bot is the subject
    await until(lambda: len(channel.audio()) > 100, what="two seconds of it")
    assert channel.max_queue <= 8
    assert not engine.of(name, "ended")


async def test_a_wrong_format_is_no_noise(streams: Streams, engine: GatewayClient) -> None:
    """The PBX has been given another format than the protocol's; the bot is a patient one."""
    async with serving(sending()) as url:
        name, _ = await streams.start(url, bot={"protocol": "native", "rate": 16000})
        ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "pbx-unreachable"
    assert "slin16" in ended["detail"]


async def test_a_stream_that_the_pbx_does_not_know(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """Its channel is gone already."""
    body = streams.setup("nowhere.w1", bot.url)
    assert (await engine.request("PUT", "/streams/nowhere.w1", body))[0] == 201
    ended = await engine.wait_for("nowhere.w1", "ended")
    assert ended["reason"] == "pbx-unreachable"
    assert "404" in ended["detail"]
