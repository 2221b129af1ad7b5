"""Forks: a bot that only listens, beside what the call does."""

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.bot_server import BotServer
from tests.harness.customers.media_server import MediaServer
from tests.harness.live_lab import Lab
from tests.harness.phones.audio import tone
from tests.harness.phones.phone import Phone
from tests.live.streams.test_conversation import stream

CALLER_HZ, PROMPT_HZ, PARTY_HZ, BOT_HZ = 400, 600, 700, 900
EDGE_MS = 40  # frames that hold two sounds


@pytest.mark.parametrize(
    ("track", "heard"),
    [("caller", {CALLER_HZ}), ("bot", {PROMPT_HZ}), ("both", {CALLER_HZ, PROMPT_HZ})],
)
async def test_a_fork_beside_a_prompt(
    lab: Lab, bots: BotServer, sounds: MediaServer, track: str, heard: set[int]
) -> None:
    """The tree goes on at once; the bot hears its track, and the caller never hears the bot."""
    play = {"type": "play", "data": {"audioUrl": sounds.tone(PROMPT_HZ, 3_000)}}
    async with Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone:
        action = stream(bots.url("/bot"), play, fork=True, track=track)
        await lab.call(to="+15550100", action=action)
        bot = await bots.wait_for_bot()
        for hz in heard:
            await bot.until_hears(hz)
        await bot.say(tone(BOT_HZ, 500))
        await phone.wait_ended()
        await bot.wait_closed()
    assert {each.hz for each in bot.tones_heard(CALLER_HZ, PROMPT_HZ)} == heard
    assert phone.tones_heard(BOT_HZ) == []
    assert phone.heard_ms(PROMPT_HZ) == approx(3_000, abs=EDGE_MS)


async def test_a_fork_of_a_conversation(lab: Lab, bots: BotServer) -> None:
    """It goes on when another party answers, and the bot hears both."""
    dial = {"type": "dial", "data": {"number": "agent:1002"}}
    async with (
        Phone.agent(lab.pbx, "1002", tone_hz=PARTY_HZ) as party,
        Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as phone,
    ):
        await lab.call(to="+15550100", action=stream(bots.url("/bot"), dial, fork=True))
        await phone.until_hears(PARTY_HZ)
        bot = await bots.wait_for_bot()
        await bot.until_hears(PARTY_HZ)
        await bot.until_hears(CALLER_HZ)
        await phone.hang_up()
        await party.wait_ended()
        await bot.wait_closed()
