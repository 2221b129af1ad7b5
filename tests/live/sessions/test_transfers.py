"""Transfers on real calls: who hears whom in each state, and how they complete."""

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Transfer


@pytest.fixture
async def talk(parties: Parties) -> Parties:
    """Connect customer and source; the target answers on `pick_up`."""
    await parties.connect()
    await parties.add_phone("target", picks_up=False)
    return parties


@pytest.fixture
async def attended(talk: Parties) -> Transfer:
    """Start an attended transfer and wait until the target rings."""
    transfer = Transfer(talk)
    await transfer.start()
    await transfer.wait_for_ringback()
    return transfer


@pytest.fixture
async def answered(talk: Parties, attended: Transfer) -> Transfer:
    """Let the target answer."""
    await talk["target"].pick_up()
    await attended.wait_for_state("answered")
    await talk.expect_audio(source="target", target="source", customer="music")
    return attended


async def assert_handed_over(parties: Parties) -> None:
    """Assert that customer and target talk without the source, and end together."""
    await parties["source"].wait_ended()
    await parties.expect_audio(customer="target", target="customer")
    await parties["target"].hang_up()
    await parties["customer"].wait_ended()


async def test_an_attended_transfer_is_completed(talk: Parties, attended: Transfer) -> None:
    """The source hears ringing, then the target; the customer hears music, then the target."""
    await talk.expect_audio(source="ringing", customer="music", target="")
    await talk["target"].pick_up()
    await talk.expect_audio(source="target", target="source", customer="music")
    view = await attended.complete()
    assert (view["state"], view["endedBy"]) == ("completed", "ada")
    await assert_handed_over(talk)


async def test_repeated_requests_change_nothing(talk: Parties, answered: Transfer) -> None:
    """Repeated start, complete and cancel requests return the same session."""
    session = answered.id
    assert (await answered.start())["transferSessionId"] == session
    first = await answered.complete()
    assert await answered.complete() == first
    assert await answered.cancel() == first
    await assert_handed_over(talk)


async def test_a_source_hangup_after_the_answer_completes(
    talk: Parties, answered: Transfer
) -> None:
    """The transfer is completed."""
    await talk["source"].hang_up()
    await answered.wait_for_state("completed", "source_hangup_intentional")
    await assert_handed_over(talk)


async def test_completing_while_ringing_makes_it_blind(talk: Parties, attended: Transfer) -> None:
    """The source is hung up, and the customer hears music until the target answers."""
    await attended.complete()
    await talk["source"].wait_ended()
    await talk.expect_audio(customer="music")
    await talk["target"].pick_up()
    await attended.wait_for_state("blind_transferred", "manual_complete")
    await assert_handed_over(talk)


async def test_a_source_hangup_while_ringing_makes_it_blind(
    talk: Parties, attended: Transfer
) -> None:
    """The hangup has the same effect as completing."""
    await talk["source"].hang_up()
    await talk.expect_audio(customer="music")
    await talk["target"].pick_up()
    await attended.wait_for_state("blind_transferred", "source_hangup_intentional")
    await assert_handed_over(talk)


async def test_a_blind_transfer_connects_the_target(talk: Parties) -> None:
    """The source is hung up when the target rings; the customer hears music, then the target."""
    transfer = Transfer(talk)
    await transfer.start("blind")
    await transfer.wait_for_ringback()
    await talk["source"].wait_ended()
    await talk.expect_audio(customer="music", target="")
    await talk["target"].pick_up()
    await transfer.wait_for_state("blind_transferred")
    await assert_handed_over(talk)


@pytest.mark.parametrize("mode", ["attended", "blind"])
async def test_custom_hold_music_plays_until_the_target_answers(
    talk: Parties, sounds: MediaServer, mode: str
) -> None:
    """The customer hears the custom music in a loop until the target answers."""
    transfer = Transfer(talk)
    await transfer.start(mode, mohAudioUrl=sounds.tone(1550, 500))
    await transfer.wait_for_ringback()
    await talk.expect_audio_for(2000, {"customer": "song"})
    await talk["target"].pick_up()
    if mode == "attended":
        await talk.expect_audio(source="target", target="source", customer="song")
        await transfer.complete()
    await assert_handed_over(talk)


@pytest.mark.parametrize("mode", ["attended", "blind"])
async def test_an_agent_who_called_transfers_the_customer(
    parties: Parties, hooks: WebhookServer, mode: str
) -> None:
    """The tree ran on the leg of the source; afterwards it runs on the customer."""
    data = {"maxDigits": 1, "timeout": 300_000}
    then = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    await parties.connect_from_source(then)
    await parties.add_phone("target", picks_up=False)
    customer, transfer = await parties.leg("customer"), Transfer(parties)
    await transfer.start(mode)
    await transfer.wait_for_ringback()
    await parties["target"].pick_up()
    if mode == "attended":
        await parties.expect_audio(source="target", target="source", customer="music")
        await transfer.complete()
    await parties["source"].wait_ended()
    await parties.expect_audio(customer="target", target="customer")
    await parties["target"].hang_up()
    await parties.lab.wait_for_state(parties.call, "gathering")
    await parties["customer"].press("5")
    result = (await hooks.wait_for_request("/result")).body
    assert (result["to"], result["dtmf"]) == ({"channelId": customer}, "5")
    await parties["customer"].wait_ended()


async def test_the_dial_action_runs_after_the_target_hangs_up(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """When the target hangs up, the dial's action runs on the customer."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, 6000)}}
    await parties.connect(hooks.answers("/after", prompt))
    await parties.add_phone("target")
    transfer = Transfer(parties)
    await transfer.start()
    await transfer.wait_for_state("answered")
    await transfer.complete()
    await parties.expect_audio(customer="target", target="customer")
    await parties["target"].hang_up()
    await hooks.wait_for_request("/after")
    await parties.expect_audio(customer="prompt")
    await parties["customer"].wait_ended()
