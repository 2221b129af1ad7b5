"""Requests about the streams of a live call: forks, texts and stops."""

from tests.harness.customers.bot_server import BotServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.until import until
from tests.live.streams.test_conversation import stream

CALLER_HZ, PARTY_HZ = 400, 700


async def test_a_second_bot_listens(lab: Lab, bots: BotServer, hooks: WebhookServer) -> None:
    """It starts beside the bot that talks, both get texts, and each is stopped by itself."""
    hooks.answers("/after", {"type": "hangup"})
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        action = stream(bots.url("/talks"), hooks.url("/after"))
        call = await lab.call(to="+15550100", action=action)
        talking = await bots.wait_for_bot()
        path = f"/calls/{call}/streams"
        await lab.engine.rpc("POST", path, {"url": bots.url("/listens"), "track": "caller"})
        listening = await bots.wait_for_bot(2)
        await listening.until_hears(CALLER_HZ)
        for bot in (talking, listening):
            await lab.engine.rpc("POST", f"{path}/{bot.stream_id}/text", {"text": "hello"})
            assert (await bot.wait_for("switchroom")).body["text"] == "hello"
        await lab.engine.rpc("POST", f"{path}/{listening.stream_id}/stop", {})
        await listening.wait_closed()
        assert not talking.is_closed
        await lab.engine.rpc("POST", f"{path}/{talking.stream_id}/stop", {})
        assert (await hooks.wait_for_request("/after")).body["reason"] == "stopped"
        await phone.wait_ended()
    ended = await lab.engine.wait_for_event(call, "completed")
    assert ended["endedBy"] == "action"
    recorded = ended["record"]["streams"]
    assert [(each["streamId"], each.get("fork", False)) for each in recorded] == [
        (listening.stream_id, True),
        (talking.stream_id, False),
    ]


async def test_a_party_talks_to_the_caller_meanwhile(lab: Lab, bots: BotServer) -> None:
    """The bot waits, and goes on with the same stream; nothing is lost."""
    async with (
        Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone,
        Phone.answering(free_port(), tone_hz=PARTY_HZ) as party,
    ):
        call = await lab.call(to="+15550100", action=stream(bots.url("/bot")))
        bot = await bots.wait_for_bot()
        await bot.until_hears(CALLER_HZ)
        await lab.engine.rpc("POST", f"/calls/{call}/dial", {"target": party.address})
        await phone.until_hears(PARTY_HZ)
        await phone.wait_spoken(1_000)  # so that the bot hears a pause
        await party.hang_up()
        await bot.wait_for("switchroom", 2)  # `started`, `ended`
        await until(
            lambda: len(bot.tones_heard(CALLER_HZ)) > 1, what="the bot to hear the caller again"
        )
        await phone.hang_up()
    ended = await lab.engine.wait_for_event(call, "completed")
    [recorded] = ended["record"]["streams"]
    assert (recorded["streamId"], recorded["reason"]) == (bot.stream_id, "hangup")
    assert "resumes" not in recorded
