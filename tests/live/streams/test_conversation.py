"""A caller and a bot on a real PBX: audio both ways, digits, marks, clear, and the verb's end."""

from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.bot_server import BotServer
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import spans, tone
from tests.harness.phones.phone import Phone

CALLER_HZ, BOT_HZ, NEXT_HZ = 400, 600, 900
EDGE_MS = 60
LONG_MS = 20_000  # until the bot clears it


def stream(url: str, action: object = None, **data: object) -> dict[str, object]:
    """Return the verb with the bot at a URL."""
    return {"type": "stream", "data": {"url": url, **data}, "action": action}


async def test_caller_and_bot_hear_each_other(
    lab: Lab, bots: BotServer, hooks: WebhookServer
) -> None:
    """With digits, a mark, the parameters, and a result when the bot closes."""
    hooks.answers("/after", {"type": "hangup"})
    url, after = bots.url("/bot"), hooks.url("/after")
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        action = stream(url, after, parameters={"language": "en"})
        call = await lab.call(to="+15550100", action=action)
        bot = await bots.wait_for_bot()
        assert bot.start["customParameters"] == {"language": "en"}
        assert bot.start["callSid"] == call
        await bot.until_hears(CALLER_HZ)
        await bot.say(tone(BOT_HZ, 1_000))
        await bot.mark("greeting")
        await phone.until_hears(BOT_HZ)
        assert (await bot.wait_for("mark")).body["mark"]["name"] == "greeting"
        await phone.press("7#")
        digits = [(await bot.wait_for("dtmf", number)).body for number in (1, 2)]
        assert [each["dtmf"]["digit"] for each in digits] == ["7", "#"]
        await bot.close()
        result = (await hooks.wait_for_request("/after")).body
        await phone.wait_ended()
    assert result["reason"] == "bot-closed"
    assert abs(result["heardMs"] - 1_000) <= EDGE_MS
    assert result["lastMark"] == "greeting"
    assert phone.heard_ms(BOT_HZ) == approx(1_000, abs=EDGE_MS)
    (recorded,) = (await lab.engine.wait_for_event(call, "completed"))["record"]["streams"]
    assert (recorded["streamId"], recorded["heardMs"]) == (result["streamId"], result["heardMs"])
    assert (recorded["host"], recorded["reason"]) == (url.split("/")[2], "bot-closed")
    assert recorded["startedMs"] <= recorded["connectedMs"] <= recorded["endedMs"]


async def test_clear_stops_at_once(lab: Lab, bots: BotServer) -> None:
    """The rest of a long sound is not heard; a bot that says more afterwards is."""
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        bot = await bots.wait_for_bot()
        await bot.say(tone(BOT_HZ, LONG_MS))
        await phone.until_hears(BOT_HZ)
        await bot.clear()
        await bot.say(tone(NEXT_HZ, 500))
        await phone.until_hears(NEXT_HZ)
        await bot.close()
        await phone.wait_ended()
    assert phone.heard_ms(BOT_HZ) < LONG_MS - 1_000
    first, *_, last = phone.tones_heard(BOT_HZ, NEXT_HZ)
    assert (first.hz, last.hz) == (BOT_HZ, NEXT_HZ)


async def test_a_silent_bot_is_silence(lab: Lab, bots: BotServer) -> None:
    """A caller gets a packet each 20 ms while the bot says nothing: phones give up without."""
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=stream(bots.url("/bot"), maxDuration=3))
        await bots.wait_for_bot()
        await phone.wait_ended()
    (heard,) = spans(phone.frames, lambda _each: True)  # without a long pause
    assert heard.missing_ms == 0
    assert heard.paused_ms < heard.length_ms >= 2_000


async def test_an_action_of_the_bot(lab: Lab, bots: BotServer, sounds: MediaServer) -> None:
    """It runs in the call, the bot waits, learns the digits, and goes on."""
    gather = {
        "type": "gather",
        "data": {"audioUrl": sounds.tone(NEXT_HZ, 500), "maxDigits": 2},
    }
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        call = await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        bot = await bots.wait_for_bot()
        await bot.until_hears(CALLER_HZ)
        await bot.run(gather)
        assert (await bot.wait_for("switchroom")).body["state"] == "started"
        await phone.until_hears(NEXT_HZ)
        await phone.press("42")
        ended = (await bot.wait_for("switchroom", 2)).body
        assert (ended["state"], ended["result"]["digits"]) == ("ended", "42")
        assert bot.messages_of("dtmf") == []
        await bot.say(tone(BOT_HZ, 500))
        await phone.until_hears(BOT_HZ)
        await bot.run({"type": "hangup"})
        await phone.wait_ended()
        await bot.wait_closed()
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_an_action_that_is_wrong(lab: Lab, bots: BotServer) -> None:
    """The bot learns the field and what is allowed, and goes on."""
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        bot = await bots.wait_for_bot()
        await bot.run({"type": "say", "data": {}})
        rejected = (await bot.wait_for("switchroom")).body
        assert rejected["state"] == "rejected"
        assert "action.data" in rejected["error"]
        await bot.say(tone(BOT_HZ, 500))
        await phone.until_hears(BOT_HZ)
        await bot.close()
        await phone.wait_ended()
