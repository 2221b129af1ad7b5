"""Legs of a live call are silenced, held, called in and hung up; by tone, who hears whom."""

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.monotonic import now_ms
from tests.harness.phones.parties import Parties

SOON_MS = 2_000  # for a machine that does other things too: `make bench` measures


async def mute(crowd: Parties, name: str, direction: str) -> None:
    """Mute a party."""
    view = await crowd.control("mute", channelId=await crowd.leg(name), direction=direction)
    assert direction in {each.get("muted") for each in view["legs"]}


@pytest.mark.parametrize(
    ("direction", "customer", "source"),
    [("in", "source", ""), ("out", "", "customer"), ("both", "", "")],
)
async def test_mute_in_a_conversation(
    crowd: Parties, direction: str, customer: str, source: str
) -> None:
    """In: the leg is not heard; out: it hears nobody; both. Twice is once; unmute ends it."""
    await crowd.connect()
    leg = await crowd.leg("customer")
    for _ in range(2):
        await mute(crowd, "customer", direction)
        await crowd.expect_audio(customer=customer, source=source)
    for _ in range(2):
        await crowd.control("unmute", channelId=leg)
        await crowd.expect_audio(customer="source", source="customer")


async def test_a_mute_acts_at_once(crowd: Parties) -> None:
    """The last that is heard of who is muted came before the request, or hardly after it."""
    await crowd.connect()
    asked_ms = now_ms()
    await mute(crowd, "customer", "in")
    await crowd.expect_audio(source="")
    assert crowd.listener("source").last_ms("customer") - asked_ms < SOON_MS


async def test_another_direction(crowd: Parties) -> None:
    """A mute in another direction takes the place of the one before."""
    await crowd.connect()
    await mute(crowd, "customer", "both")
    await mute(crowd, "customer", "out")
    await crowd.expect_audio(customer="", source="customer")


async def test_mute_during_a_prompt(crowd: Parties, sounds: MediaServer) -> None:
    """A leg that is to hear nothing is spared the prompt at once, and hears it on afterwards."""
    await crowd.call_in(await crowd.lab.add_number(play(sounds, 6000)))
    await crowd.expect_audio(customer="prompt")
    asked_ms = now_ms()
    await mute(crowd, "customer", "out")
    await crowd.expect_audio(customer="")
    assert crowd.listener("customer").last_ms("prompt") - asked_ms < SOON_MS
    asked_ms = now_ms()
    await crowd.control("unmute", channelId=await crowd.leg("customer"))
    await crowd.expect_audio(customer="prompt")
    assert crowd.listener("customer").first_ms("prompt", asked_ms) - asked_ms < SOON_MS


async def test_mute_during_a_gather(
    crowd: Parties, sounds: MediaServer, hooks: WebhookServer
) -> None:
    """Who is muted in a gather's prompt is not heard by anybody anyhow: prompt and keys count."""
    data = {"audioUrl": sounds.tone(1300, 6000), "maxDigits": 1}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/told", None)}
    await crowd.call_in(await crowd.lab.add_number(gather))
    await crowd.expect_audio(customer="prompt")
    await mute(crowd, "customer", "in")
    await crowd.expect_audio(customer="prompt")
    await crowd["customer"].press("4")
    assert (await hooks.wait_for_request("/told")).body["dtmf"] == "4"


async def test_hold_in_a_conversation(crowd: Parties) -> None:
    """Who is held hears music, the other nothing; unhold joins them. Twice is once."""
    await crowd.connect()
    for name, other in (("customer", "source"), ("source", "customer")):
        leg = await crowd.leg(name)
        for _ in range(2):
            await crowd.control("hold", channelId=leg)
            await crowd.expect_audio(**{name: "music", other: ""})
        for _ in range(2):
            await crowd.control("unhold", channelId=leg)
            await crowd.expect_audio(customer="source", source="customer")


async def test_both_on_hold(crowd: Parties) -> None:
    """Both are held and hear music; each comes back by itself."""
    await crowd.connect()
    for name in ("customer", "source"):
        await crowd.control("hold", channelId=await crowd.leg(name))
    await crowd.expect_audio(customer="music", source="music")
    await crowd.control("unhold", channelId=await crowd.leg("customer"))
    await crowd.expect_audio(customer="", source="music")
    await crowd.control("unhold", channelId=await crowd.leg("source"))
    await crowd.expect_audio(customer="source", source="customer")


async def test_hold_during_a_prompt(crowd: Parties, sounds: MediaServer) -> None:
    """Music instead of the prompt, which then goes on: in all it is heard for its length, once."""
    caller = await crowd.call_in(await crowd.lab.add_number(play(sounds, 4000)))
    await crowd.expect_audio(customer="prompt")
    leg = await crowd.leg("customer")
    asked_ms = now_ms()
    await crowd.control("hold", channelId=leg)
    await crowd.expect_audio(customer="music")
    assert crowd.listener("customer").last_ms("prompt") - asked_ms < SOON_MS
    await crowd.control("unhold", channelId=leg)
    await crowd.expect_audio(customer="prompt")
    await caller.wait_ended()
    heard = caller.tones_heard(1300)
    assert len(heard) == 2
    assert sum(each.length_ms for each in heard) == approx(4000, abs=250)


async def test_hold_during_a_gather(crowd: Parties, hooks: WebhookServer) -> None:
    """Its clocks stand still and keys count for nothing; after unhold they count."""
    data = {"maxDigits": 1, "timeout": 2500}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/told", None)}
    caller = await crowd.call_in(await crowd.lab.add_number(gather))
    await crowd.lab.wait_for_state(crowd.call, "gathering")
    leg = await crowd.leg("customer")
    asked_ms = now_ms()
    await crowd.control("hold", channelId=leg)
    await crowd.expect_audio(customer="music")
    await caller.press("1")
    await crowd.expect_audio_for(3000, {"customer": "music"})
    assert not hooks.requests_to("/told")
    await crowd.control("unhold", channelId=leg)
    await crowd.expect_audio(customer="")
    await caller.press("2")
    told = await hooks.wait_for_request("/told")
    assert told.at_ms - asked_ms > 3000
    assert (told.body["dtmf"], told.body["reason"]) == ("2", "max-digits")


def play(sounds: MediaServer, length_ms: int) -> object:
    """Make a prompt."""
    return {"type": "play", "data": {"audioUrl": sounds.tone(1300, length_ms)}}
