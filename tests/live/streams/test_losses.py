"""Streams outlive engines and gateways, and a lost bot is called again."""

import pytest

from tests.harness.customers.bot_server import Bot, BotServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import FRAME_MS, Frame, is_sound, skips_ms, sweep, tone
from tests.harness.phones.phone import Phone
from tests.harness.servers.cluster import freeze, thaw
from tests.harness.until import until
from tests.live.recovery.test_resilience import Leave, crash, deploy
from tests.live.streams.test_conversation import stream

CALLER_HZ, BOT_HZ, NEXT_HZ = 400, 600, 900
LONG_OUTAGE_MS = 9_000  # of all gateways: longer than all tries to reach a bot
SPEECH_MS = 10_000


def sounds_of(bot: Bot) -> list[Frame]:
    """Return the frames of the caller's that are not silent."""
    return [each for each in bot.frames if is_sound(each.samples)]


async def bot_is_silent(lab: Lab, call: str) -> None:
    """Wait until the engine knows that a bot has ceased to speak."""
    silent = {"type": "stream-speech-changed", "by": "bot", "isSpeaking": False}

    async def is_known() -> bool:
        return any(silent.items() <= each.items() for each in await lab.timeline_events(call))

    await until(is_known, what="the bot to be silent")


@pytest.mark.parametrize("leave", [crash, deploy])
async def test_an_engine_ends(
    lab: Lab, bots: BotServer, hooks: WebhookServer, leave: Leave
) -> None:
    """No frame is missing, the bot keeps its connection, and the next engine goes on."""
    hooks.answers("/after", {"type": "hangup"})
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=stream(bots.url("/bot"), hooks.url("/after")))
        bot = await bots.wait_for_bot()
        phone.line.feed(sweep(SPEECH_MS))
        await until(lambda: bool(sounds_of(bot)), what="the bot to hear the caller")
        await leave(lab)
        await lab.wait_for_state(call, "streaming")
        await bot.say(tone(BOT_HZ, 500))
        await phone.until_hears(BOT_HZ)
        await bot.close()
        assert (await hooks.wait_for_request("/after")).body["reason"] == "bot-closed"
        await phone.wait_ended()
    assert len(bots.bots) == 1
    assert max(map(abs, skips_ms(sounds_of(bot)))) < FRAME_MS / 2


async def test_a_gateway_is_killed(lab: Lab, bots: BotServer) -> None:
    """The bot is connected by the other gateway, and learns where it was."""
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        call = await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        first = await bots.wait_for_bot()
        await first.say(tone(BOT_HZ, 1_000))
        await first.mark("greeting")
        await first.wait_for("mark")
        await bot_is_silent(lab, call)  # until then the engine counts on
        (gateway,) = [each for each in lab.gateways if await each.has_streams()]
        await gateway.kill()
        await gateway.start()
        second = await bots.wait_for_bot(2)
        resume = second.start["switchroom"]["resume"]
        assert resume["of"] == first.stream_id
        assert resume["lastMark"] == "greeting"
        assert abs(resume["heardMs"] - 1_000) <= 100
        await second.until_hears(CALLER_HZ)
        await second.say(tone(NEXT_HZ, 500))
        await phone.until_hears(NEXT_HZ)
        await second.close()
        await phone.wait_ended()


async def test_a_gateway_stands_still(lab: Lab, bots: BotServer) -> None:
    """The other one takes its stream; when it goes on, the first bot is disconnected."""
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        first = await bots.wait_for_bot()
        await first.until_hears(CALLER_HZ)
        (gateway,) = [each for each in lab.gateways if await each.has_streams()]
        freeze(gateway)
        try:
            second = await bots.wait_for_bot(2)
            await second.until_hears(CALLER_HZ)
        finally:
            thaw(gateway)
        await first.wait_closed()
        await second.say(tone(NEXT_HZ, 500))
        await phone.until_hears(NEXT_HZ)
        await second.close()
        await phone.wait_ended()
    assert len(bots.bots) == 2
    assert "Traceback" not in (gateway.folder / "output.log").read_text()


async def test_no_gateway_for_a_while(lab: Lab, bots: BotServer) -> None:
    """The caller hears music; the first gateway that is back takes the stream."""
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        call = await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        first = await bots.wait_for_bot()
        await first.until_hears(CALLER_HZ)
        for gateway in lab.gateways:
            await gateway.kill()
        heard = len(phone.frames)
        enough = LONG_OUTAGE_MS // FRAME_MS
        await until(lambda: len(phone.frames) - heard >= enough, what="music for nine seconds")
        assert any(is_sound(each.samples) for each in phone.frames[-enough // 2 :])
        view = await lab.engine.rpc("GET", f"/calls/{call}/streams")
        assert [each["state"] for each in view["streams"]] == ["resuming"]
        await lab.gateways[0].start()
        second = await bots.wait_for_bot(2)
        assert second.start["switchroom"]["resume"]["of"] == first.stream_id
        await second.until_hears(CALLER_HZ)
        await second.close()
        await phone.wait_ended()


async def test_a_bot_that_refuses_is_called_once(lab: Lab, hooks: WebhookServer) -> None:
    """Its server has only webhooks, and answers 405; the tree continues at once."""
    hooks.answers("/after", {"type": "hangup"})
    async with Phone.answering(lab.trunk_port) as phone:
        url = hooks.url("/bot").replace("http", "ws", 1)
        await lab.call(to="+15550100", action=stream(url, hooks.url("/after")))
        await phone.wait_ended()
    assert hooks.requests_to("/after")[0].body["reason"] == "bot-refused"


async def test_a_lost_bot_is_called_again(lab: Lab, bots: BotServer) -> None:
    """By default; the new connection learns where the old one was."""
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        first = await bots.wait_for_bot()
        await first.close(1011)
        second = await bots.wait_for_bot(2)
        assert second.start["switchroom"]["resume"]["of"] == first.stream_id
        await second.close()
        await phone.wait_ended()


@pytest.mark.parametrize(("on_lost", "status"), [("continue", 1), ("hangup", 0)])
async def test_a_lost_bot_is_given_up(
    lab: Lab, bots: BotServer, hooks: WebhookServer, on_lost: str, status: int
) -> None:
    """The tree continues, or the call ends; either way the webhook learns why."""
    hooks.answers("/after", {"type": "hangup"})
    action = stream(bots.url("/bot"), hooks.url("/after"), onLost=on_lost)
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        bot = await bots.wait_for_bot()
        await bot.close(1011)
        await phone.wait_ended()
        await hooks.wait_for_request("/after")
    assert hooks.requests_to("/after")[0].body["reason"] == "bot-lost"
    ended = await lab.wait_ended(call)
    assert ended["endedBy"] == ("action" if status else "system")


async def test_nothing_listens_at_the_url(lab: Lab, hooks: WebhookServer) -> None:
    """With onLost `continue` the tree goes on at once, and the reason is known."""
    hooks.answers("/after", {"type": "hangup"})
    action = stream("ws://127.0.0.1:9/bot", hooks.url("/after"), onLost="continue")
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.wait_ended()
    await until(lambda: bool(hooks.requests_to("/after")), what="the webhook")
    assert hooks.requests_to("/after")[0].body["reason"] == "unreachable"
