"""Streams of the real gateway between a simulated PBX and a bot."""

import itertools
import statistics
import time

from streams.control.service import MAX_PBX_HANDSHAKES
from tests.contract.streams.conftest import Streams
from tests.harness.streams.gateway import GatewayClient
from tests.harness.streams.simulated_pbx import ULAW_SILENCE, SimulatedPbx
from tests.harness.streams.twilio_bot import TwilioBot
from tests.harness.until import until

LOUD = b"\x80\x00" * 80  # 20 ms at full scale
SOFT = b"\x9a\x1a" * 80


async def test_a_bot_is_greeted_as_twilio_does(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """With ids, the parameters of the verb, the format, and the headers of the handshake."""
    name, _ = await streams.start(
        bot.url, bot={"headers": {"webhook-id": "msg_1"}}, parameters={"language": "en"}
    )
    await engine.wait_for(name, "connected")
    await bot.connected.wait()
    connected, start = bot.messages[:2]
    assert connected == {"event": "connected", "protocol": "Call", "version": "1.0.0"}
    assert start["sequenceNumber"] == "1"
    assert start["streamSid"] == start["start"]["streamSid"]
    assert start["start"]["customParameters"] == {"language": "en"}
    assert start["start"]["callSid"] == "call-1"
    assert start["start"]["mediaFormat"] == {
        "encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1,
    }  # fmt: skip
    assert bot.headers["webhook-id"] == "msg_1"


async def test_audio_goes_both_ways_at_once(
    streams: Streams, engine: GatewayClient, echo_bot: TwilioBot
) -> None:
    """Caller to bot to caller, in order; a machine that stalls costs a few frames, not a delay."""
    name, channel = await streams.start(echo_bot.url)
    await engine.wait_for(name, "connected")
    frames = [bytes([0x80 + n % 100]) * 160 for n in range(100)]
    begun_s = time.monotonic()
    channel.to_say.extend(frames)
    last = {*frames[-5:]}  # one of them: those that are too late are dropped
    await until(lambda: bool(last & {*channel.audio()[-1:]}), what="the last frames")
    heard = channel.audio()
    numbers = [frames.index(frame) for frame in heard]
    assert numbers == sorted({*numbers})
    assert len(numbers) >= 90
    times = [at_s for at_s, frame in channel.played if frame != ULAW_SILENCE]
    sent = [begun_s + n * 0.02 for n in numbers]
    delays = [(heard - said) * 1000 for heard, said in zip(times, sent, strict=True)]
    assert statistics.median(delays) <= 200  # the benchmark measures it on a quiet machine


async def test_a_busy_pbx_gets_few_handshakes_at_once(
    streams: Streams, engine: GatewayClient, pbx: SimulatedPbx, echo_bot: TwilioBot
) -> None:
    """Asterisk lets ten connections wait; the others would be late by a second."""
    pbx.may_accept.clear()
    started = [await streams.start(echo_bot.url) for _ in range(20)]
    await until(lambda: pbx.waiting >= MAX_PBX_HANDSHAKES, what="handshakes")
    assert await engine.request("GET", "/readyz") == (200, {"ready": True, "faults": []})
    assert pbx.waiting == MAX_PBX_HANDSHAKES
    pbx.may_accept.set()
    await until(lambda: all(each.is_connected for _, each in started), what="all channels")


async def test_silence_fills_what_a_bot_does_not_say(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """The PBX never runs dry, or carriers would hang up."""
    name, channel = await streams.start(bot.url)
    await engine.wait_for(name, "connected")
    seen = len(channel.played)
    await until(lambda: len(channel.played) > seen + 50, what="a second of silence")
    times = [at_s for at_s, _ in channel.played[seen:]]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert {frame for _, frame in channel.played} == {ULAW_SILENCE}
    assert sum(gap > 0.05 for gap in gaps) <= 2  # of a busy machine


async def test_audio_is_never_far_ahead(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """Two seconds in one message are played in two seconds or more, with 120 ms at most ahead."""
    name, channel = await streams.start(bot.url)
    await bot.connected.wait()
    await bot.say(LOUD * 100)
    await bot.mark("end")
    mark = await engine.wait_for(name, "mark")
    assert channel.audio() == [LOUD] * 100
    assert channel.max_queue <= 8
    assert mark["name"] == "end"
    assert mark["heardMs"] == 2000
    times = [at_s for at_s, frame in channel.played if frame == LOUD]
    assert times[-1] - times[0] > 1.9  # a busy machine takes longer
    await until(lambda: bool(bot.of("mark")), what="the mark at the bot")
    assert bot.of("mark")[0]["mark"] == {"name": "end"}


async def test_a_clear_drops_what_was_not_heard(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """Marks come back at once, and count as cleared."""
    name, channel = await streams.start(bot.url)
    await bot.connected.wait()
    await bot.say(LOUD * 500)
    await bot.mark("end")
    await until(lambda: len(channel.audio()) >= 10, what="some audio")
    await bot.send("clear")
    mark = await engine.wait_for(name, "mark")
    assert mark["isCleared"] is True
    assert 0 < mark["heardMs"] <= 1000  # of ten seconds; an estimate between two reports of the PBX
    heard = len(channel.audio())
    seen = len(channel.played)
    await until(lambda: len(channel.played) > seen + 20, what="silence after it")
    assert len(channel.audio()) <= heard + 1
    await until(lambda: bool(bot.of("mark")), what="the mark at the bot")


async def test_the_end_is_reported_before_the_channel_ends(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """And the stream is in snapshots until it is deleted."""
    name, channel = await streams.start(bot.url)
    await bot.connected.wait()
    await engine.wait_for(name, "connected")
    await bot.close()
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "bot-closed"
    await channel.is_closed.wait()
    await engine.stop_reading()
    await engine.read()
    assert name in [each["stream"] for each in engine.reports[-1]["ended"]]
    await engine.request("DELETE", f"/streams/{name}")
    await engine.stop_reading()
    await engine.read()
    assert name not in [each["stream"] for each in engine.reports[-1]["ended"]]


async def test_the_same_id_is_the_same_stream(
    streams: Streams, engine: GatewayClient, bot: TwilioBot, pbx: SimulatedPbx
) -> None:
    """A repeated request changes nothing, also after the end."""
    name, _ = await streams.start(bot.url)
    await engine.wait_for(name, "connected")
    body = streams.setup(name, bot.url)
    assert await engine.request("PUT", f"/streams/{name}", body) == (200, {"stream": name})
    await engine.request("DELETE", f"/streams/{name}")
    ended = await engine.wait_for(name, "ended")
    assert ended["reason"] == "stopped"
    assert await engine.request("PUT", f"/streams/{name}", body) == (200, {"stream": name})
    await until(lambda: bool(bot.of("stop")), what="Twilio's stop")


async def test_a_caller_who_hangs_up_ends_the_stream(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """The PBX closes its end."""
    name, channel = await streams.start(bot.url)
    await bot.connected.wait()
    await channel.hang_up()
    assert (await engine.wait_for(name, "ended"))["reason"] == "pbx-lost"
    await until(lambda: bot.close_code is not None, what="the bot's end")
    assert bot.close_code == 1000


async def test_messages_of_an_engine_reach_the_bot_once(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """A text, a digit, and what became of an action."""
    name, _ = await streams.start(bot.url)
    await bot.connected.wait()
    path = f"/streams/{name}/messages"
    for _ in range(2):
        text = {"type": "text", "text": "hello"}
        assert (await engine.request("PUT", f"{path}/1", text))[0] == 204
    await engine.request("PUT", f"{path}/2", {"type": "digit", "digit": "5"})
    await engine.request("PUT", f"{path}/3", {"type": "action", "state": "rejected", "error": "x"})
    await until(lambda: len(bot.of("switchroom")) == 2, what="both texts")
    first, second = bot.of("switchroom")
    assert first["text"] == "hello"
    assert (second["state"], second["error"]) == ("rejected", "x")
    assert bot.of("dtmf")[0]["dtmf"] == {"track": "inbound_track", "digit": "5"}


async def test_an_action_is_reported_as_it_was_sent(
    streams: Streams, engine: GatewayClient, bot: TwilioBot
) -> None:
    """The gateway knows no verbs; while it runs, the bot hears and says nothing."""
    name, channel = await streams.start(bot.url)
    await bot.connected.wait()
    tree = {"type": "say", "data": {"text": "hi"}}
    await bot.send("switchroom", action=tree)
    assert (await engine.wait_for(name, "action"))["action"] == tree
    path = f"/streams/{name}/messages"
    await engine.request("PUT", f"{path}/1", {"type": "action", "state": "started"})
    await until(lambda: bool(bot.of("switchroom")), what="the start")
    channel.to_say.extend([SOFT] * 10)
    heard, said = len(bot.heard), len(channel.audio())
    await bot.say(LOUD * 10)
    await until(lambda: len(bot.heard) > heard + 20, what="more frames")
    assert {frame for _, frame in bot.heard[heard:]} == {ULAW_SILENCE}
    assert len(channel.audio()) == said
    result = {"type": "action", "state": "ended", "result": {"digits": "1"}}
    await engine.request("PUT", f"{path}/2", result)
    await until(lambda: len(bot.of("switchroom")) == 2, what="the end")
    assert bot.of("switchroom")[1]["result"] == {"digits": "1"}
    await bot.say(LOUD)
    await until(lambda: len(channel.audio()) == said + 1, what="audio again")
