"""Requests about the streams of a live call: forks, texts and stops."""

from tests.harness.customers.bot_server import BotServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.live.streams.test_conversation import stream

CALLER_HZ = 400


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
