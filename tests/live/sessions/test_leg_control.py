"""Mute and hold of legs of a live call, checked by tone."""

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import skips_ms
from tests.harness.phones.parties import Parties

MAX_LOST_MS = 600  # of a prompt whose first audio was late
LONG_PROMPT_MS = 60_000  # until the test ends it
PROMPT_MS = 8_000  # it is heard to its end
GATHER_MS = 8_000


async def mute(parties: Parties, name: str, direction: str) -> None:
    view = await parties.control("mute", channelId=await parties.leg(name), direction=direction)
    assert direction in {each.get("muted") for each in view["legs"]}


@pytest.mark.parametrize(
    ("direction", "customer", "source"),
    [("in", "source", ""), ("out", "", "customer"), ("both", "", "")],
)
async def test_mute_in_a_conversation(
    parties: Parties, direction: str, customer: str, source: str
) -> None:
    """in: the leg is not heard; out: it hears nothing; both. Requests are idempotent."""
    await parties.connect()
    leg = await parties.leg("customer")
    for _ in range(2):
        await mute(parties, "customer", direction)
        await parties.expect_audio(customer=customer, source=source)
    for _ in range(2):
        await parties.control("unmute", channelId=leg)
        await parties.expect_audio(customer="source", source="customer")


async def test_a_mute_replaces_the_previous_direction(parties: Parties) -> None:
    """A mute in another direction replaces the previous one."""
    await parties.connect()
    await mute(parties, "customer", "both")
    await mute(parties, "customer", "out")
    await parties.expect_audio(customer="", source="customer")


async def test_mute_during_a_prompt(parties: Parties, sounds: MediaServer) -> None:
    """A leg muted outbound does not hear the prompt, which continues after unmute."""
    await parties.call_in(await parties.lab.add_number(play(sounds, LONG_PROMPT_MS)))
    await parties.expect_audio(customer="prompt")
    await mute(parties, "customer", "out")
    await parties.expect_audio(customer="")
    await parties.control("unmute", channelId=await parties.leg("customer"))
    await parties.expect_audio(customer="prompt")


async def test_mute_during_a_gather(
    parties: Parties, sounds: MediaServer, hooks: WebhookServer
) -> None:
    """Inbound mute affects neither the prompt nor the keys of a gather."""
    data = {"audioUrl": sounds.tone(1300, LONG_PROMPT_MS), "maxDigits": 1}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    await parties.call_in(await parties.lab.add_number(gather))
    await parties.expect_audio(customer="prompt")
    await mute(parties, "customer", "in")
    await parties.expect_audio(customer="prompt")
    await parties["customer"].press("4")
    assert (await hooks.wait_for_request("/result")).body["dtmf"] == "4"


async def test_hold_in_a_conversation(parties: Parties) -> None:
    """The held leg hears music, the other silence; unhold reconnects. Requests are idempotent."""
    await parties.connect()
    for name, other in (("customer", "source"), ("source", "customer")):
        leg = await parties.leg(name)
        for _ in range(2):
            await parties.control("hold", channelId=leg)
            await parties.expect_audio(**{name: "music", other: ""})
        for _ in range(2):
            await parties.control("unhold", channelId=leg)
            await parties.expect_audio(customer="source", source="customer")


async def test_both_on_hold(parties: Parties) -> None:
    """Both hear music, and each is unheld separately."""
    await parties.connect()
    for name in ("customer", "source"):
        await parties.control("hold", channelId=await parties.leg(name))
    await parties.expect_audio(customer="music", source="music")
    await parties.control("unhold", channelId=await parties.leg("customer"))
    await parties.expect_audio(customer="", source="music")
    await parties.control("unhold", channelId=await parties.leg("source"))
    await parties.expect_audio(customer="source", source="customer")


async def test_hold_during_a_prompt(parties: Parties, sounds: MediaServer) -> None:
    """Music interrupts the prompt, which resumes; in total it plays once."""
    caller = await parties.call_in(await parties.lab.add_number(play(sounds, PROMPT_MS)))
    await parties.expect_audio(customer="prompt")
    leg = await parties.leg("customer")
    await parties.control("hold", channelId=leg)
    await parties.expect_audio(customer="music")
    await parties.control("unhold", channelId=leg)
    await parties.expect_audio(customer="prompt")
    await caller.wait_ended()
    heard = caller.tones_heard(1300)
    assert len(heard) == 2
    assert sum(each.length_ms for each in heard) == approx(PROMPT_MS, abs=MAX_LOST_MS)


async def test_a_prompt_continues_where_a_mute_stopped_it(
    parties: Parties, sounds: MediaServer
) -> None:
    """The beginning of the file is not heard again, which Asterisk sends before it seeks."""
    action = {"type": "play", "data": {"audioUrl": sounds.sweep(LONG_PROMPT_MS)}}
    caller = await parties.call_in(await parties.lab.add_number(action))
    leg = await parties.leg("customer")
    for _ in range(3):
        await caller.wait_spoken(600)
        await parties.control("mute", channelId=leg, direction="in")
        await caller.wait_spoken(600)
        await parties.control("unmute", channelId=leg)
    await caller.wait_spoken(600)
    await caller.hang_up()
    assert max(map(abs, skips_ms(caller.frames, LONG_PROMPT_MS))) <= MAX_LOST_MS


async def test_hold_during_a_gather(parties: Parties, hooks: WebhookServer) -> None:
    """During hold the timeouts pause and keys are ignored; after unhold keys count."""
    data = {"maxDigits": 1, "timeout": GATHER_MS}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    caller = await parties.call_in(await parties.lab.add_number(gather))
    await parties.lab.wait_for_state(parties.call, "gathering")
    leg = await parties.leg("customer")
    requested_ms = now_ms()
    await parties.control("hold", channelId=leg)
    await parties.expect_audio(customer="music")
    await caller.press("1")
    await parties.expect_audio_for(GATHER_MS + 500, {"customer": "music"})
    assert not hooks.requests_to("/result")
    await parties.control("unhold", channelId=leg)
    await parties.expect_audio(customer="")
    await caller.press("2")
    result = await hooks.wait_for_request("/result")
    assert result.at_ms - requested_ms > GATHER_MS
    assert (result.body["dtmf"], result.body["reason"]) == ("2", "max-digits")


def play(sounds: MediaServer, length_ms: int) -> object:
    return {"type": "play", "data": {"audioUrl": sounds.tone(1300, length_ms)}}
