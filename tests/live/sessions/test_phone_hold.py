"""Hold pressed on a phone: who hears what, in conversations, transfers and prompts."""

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Transfer, start_ringing
from tests.harness.servers.engine import RequestError

PROMPT_MS = 10_000
MAX_LOST_MS = 600  # of a prompt whose first audio was late


@pytest.fixture
async def talk(parties: Parties) -> Parties:
    """Connect customer and source."""
    await parties.connect()
    return parties


@pytest.mark.parametrize("direction", ["sendonly", "inactive"])
async def test_the_other_party_hears_music(talk: Parties, direction: str) -> None:
    """The hold is shown, reported and counted; after it both hear each other again."""
    await talk["source"].hold(direction)
    await talk.expect_audio_for(1_000, {"customer": "music", "source": ""})
    leg = next(each for each in (await talk.view())["legs"] if each.get("heldByPhone"))
    assert (leg["channelId"], leg["held"]) == (await talk.leg("source"), True)
    await talk["source"].resume()
    await talk.expect_audio(customer="source", source="customer")
    held = await talk.lab.engine.wait_for_event(talk.call, "leg-held")
    unheld = await talk.lab.engine.wait_for_event(talk.call, "leg-unheld")
    assert (held["channelId"], held["reason"]) == (leg["channelId"], "phone")
    await talk["customer"].hang_up()
    completed = await talk.lab.engine.wait_for_event(talk.call, "completed")
    assert abs(completed["record"]["holdMs"] - (unheld["timestamp"] - held["timestamp"])) < 100


async def test_a_request_can_not_resume(talk: Parties) -> None:
    """Unhold is a conflict while the phone holds."""
    await talk["source"].hold()
    await talk.expect_audio(customer="music")
    with pytest.raises(RequestError, match="held_by_phone"):
        await talk.control("unhold", channelId=await talk.leg("source"))


async def test_an_unheld_customer_hears_music_while_the_phone_holds(talk: Parties) -> None:
    """The customer is never in silence: by request, by the phone, or by both on hold."""
    leg = await talk.leg("customer")
    await talk.control("hold", channelId=leg)
    await talk["source"].hold()
    await talk.expect_audio(customer="music")
    await talk.control("unhold", channelId=leg)
    await talk.expect_audio_for(1_000, {"customer": "music"})
    await talk["source"].resume()
    await talk.expect_audio(customer="source", source="customer")


async def test_a_hold_survives_the_engine(talk: Parties) -> None:
    """The customer hears music without an engine and with the next one, until the phone resumes."""
    await talk["source"].hold()
    await talk.expect_audio(customer="music")
    await talk.lab.engine.kill()
    await talk.expect_audio(customer="music")
    await talk.lab.engine.start()
    await talk.expect_audio_for(1_000, {"customer": "music"})
    await talk["source"].resume()
    await talk.expect_audio(customer="source", source="customer")


async def test_a_hold_without_an_engine(talk: Parties) -> None:
    """The next one finds it: it is shown, and the customer hears music until the phone resumes."""
    await talk.lab.engine.kill()
    await talk["source"].hold()
    await talk.lab.engine.start()
    held = await talk.lab.engine.wait_for_event(talk.call, "leg-held")
    assert (held["channelId"], held["reason"]) == (await talk.leg("source"), "phone")
    await talk.expect_audio_for(1_000, {"customer": "music"})
    await talk["source"].resume()
    await talk.expect_audio(customer="source", source="customer")


async def test_a_transfer_is_canceled_while_the_source_holds(talk: Parties) -> None:
    """The customer hears music until the source's phone resumes."""
    transfer = await start_ringing(talk)
    await talk["target"].pick_up()
    await talk.expect_audio(source="target", target="source", customer="music")
    await talk["source"].hold()
    await talk.expect_audio(target="music", customer="music")
    await transfer.cancel()
    await talk.expect_audio_for(1_000, {"customer": "music"})
    await talk["source"].resume()
    await talk.expect_audio(customer="source", source="customer")


async def test_hold_first_then_transfer(talk: Parties) -> None:
    """The target that answers hears music, and after completion the customer."""
    target, transfer = await talk.add_phone("target"), Transfer(talk)
    await talk["source"].hold()
    await talk.expect_audio(customer="music")
    await transfer.start()
    await target.wait_answered()
    await talk.expect_audio(customer="music", target="music")
    await transfer.complete()
    await talk.expect_audio(customer="target", target="customer")


async def test_a_prompt_waits_for_the_phone(parties: Parties, sounds: MediaServer) -> None:
    """It stops while the phone holds and continues where it stopped."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, PROMPT_MS)}}
    source = await parties.add_phone("source")
    parties.call = await parties.lab.call(to=source.address, action=prompt)
    await parties.expect_audio(source="prompt")
    await source.hold()
    await parties.expect_audio_for(1_500, {"source": ""})
    await source.resume()
    await parties.expect_audio(source="prompt")
    await source.wait_ended()
    heard_ms = sum(each.length_ms for each in source.tones_heard(1300))
    assert abs(heard_ms - PROMPT_MS) < MAX_LOST_MS
