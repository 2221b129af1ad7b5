"""Transfers that fail or are canceled: no party is left in silence, and the reason is reported."""

import pytest

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Transfer, start_ringing
from tests.harness.phones.sip import ALAW_AND_EVENTS

UNANSWERED_S = 4  # a busy machine needs a moment until the phone rings


@pytest.fixture
async def talk(parties: Parties, hooks: WebhookServer) -> Parties:
    """Connect customer and source; the next action is /after, which ends the call."""
    await parties.connect(hooks.answers("/after", None))
    return parties


async def start_answered(parties: Parties) -> Transfer:
    """Start a transfer and let the target answer."""
    transfer = await start_ringing(parties)
    await parties["target"].pick_up()
    await parties.expect_audio(source="target", target="source", customer="music")
    return transfer


async def start_unanswered(parties: Parties, mode: str) -> Transfer:
    """Start a transfer whose target rings until the timeout."""
    target, transfer = await parties.add_phone("target", picks_up=False), Transfer(parties)
    await transfer.start(mode, timeout=UNANSWERED_S)
    await target.wait_ringing()
    return transfer


async def assert_reconnected(parties: Parties) -> None:
    """Assert that source and customer hear each other."""
    await parties.expect_audio(customer="source", source="customer")


async def assert_tree_continues(parties: Parties, hooks: WebhookServer, status: str) -> None:
    """Assert that the tree continues after the dial with this status."""
    assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == status
    await parties["customer"].wait_ended()


async def test_canceling_while_ringing_reconnects(talk: Parties) -> None:
    """The target stops ringing, and customer and source are reconnected."""
    transfer = await start_ringing(talk)
    view = await transfer.cancel()
    assert (view["state"], view["reason"], view["endedBy"]) == ("canceled", "source_cancel", "ada")
    await talk["target"].wait_ended()
    assert talk["target"].status == 487
    await assert_reconnected(talk)


async def test_canceling_after_the_answer_reconnects(talk: Parties) -> None:
    """The target is hung up, and customer and source are reconnected."""
    transfer = await start_answered(talk)
    await transfer.cancel()
    await talk["target"].wait_ended()
    await assert_reconnected(talk)


@pytest.mark.parametrize("held", [False, True], ids=["", "on hold"])
async def test_the_parties_have_different_codecs(parties: Parties, held: bool) -> None:
    """The source hears the customer again, whose packets have lower numbers than the target's."""
    await parties.connect(source_media=ALAW_AND_EVENTS)
    customer = await parties.leg("customer")
    if held:
        await parties.control("hold", channelId=customer)
    transfer = await start_answered(parties)
    await transfer.cancel()
    await parties["target"].wait_ended()
    if held:
        await parties.control("unhold", channelId=customer)
    await assert_reconnected(parties)


async def test_canceling_a_blind_transfer_continues_the_tree(
    talk: Parties, hooks: WebhookServer
) -> None:
    """The source has left, so the tree continues."""
    transfer = await start_ringing(talk, "blind")
    await transfer.cancel()
    await talk["target"].wait_ended()
    await assert_tree_continues(talk, hooks, "canceled")


REFUSALS = [
    (486, "target_busy"),
    (603, "target_reject"),
    (480, "target_no_answer"),
    (503, "target_unavailable"),
]


@pytest.mark.parametrize(("status", "reason"), REFUSALS)
async def test_a_refusal_by_the_target_reconnects(talk: Parties, status: int, reason: str) -> None:
    """Source and customer are reconnected."""
    await talk.add_refusing("target", status)
    transfer = Transfer(talk)
    await transfer.start()
    await transfer.wait_for_state("failed", reason)
    await assert_reconnected(talk)


@pytest.mark.parametrize(("status", "reason"), REFUSALS)
async def test_a_refused_blind_transfer_reconnects(talk: Parties, status: int, reason: str) -> None:
    """The target did not ring, so the source is still there."""
    await talk.add_refusing("target", status)
    transfer = Transfer(talk)
    await transfer.start("blind")
    await transfer.wait_for_state("failed", reason)
    await assert_reconnected(talk)


async def test_a_blind_transfer_declined_after_ringing_continues_the_tree(
    talk: Parties, hooks: WebhookServer
) -> None:
    """The source has left: the customer continues after the dial."""
    transfer = await start_ringing(talk, "blind")
    await talk["target"].hang_up()
    await transfer.wait_for_state("failed", "target_reject")
    await assert_tree_continues(talk, hooks, "failed")


async def test_an_unanswered_transfer_reconnects(talk: Parties) -> None:
    """After the timeout the target is canceled."""
    transfer = await start_unanswered(talk, "attended")
    await transfer.wait_for_state("failed", "target_no_answer")
    await talk["target"].wait_ended()
    await assert_reconnected(talk)


async def test_an_unanswered_blind_transfer_continues_the_tree(
    talk: Parties, hooks: WebhookServer
) -> None:
    """The customer continues after the dial."""
    transfer = await start_unanswered(talk, "blind")
    await transfer.wait_for_state("failed", "target_no_answer")
    await assert_tree_continues(talk, hooks, "no-answer")


async def test_a_target_hangup_after_the_answer_reconnects(talk: Parties) -> None:
    """Source and customer are reconnected."""
    transfer = await start_answered(talk)
    await talk["target"].hang_up()
    await transfer.wait_for_state("failed", "target_hangup")
    await assert_reconnected(talk)


@pytest.mark.parametrize("state", ["ringing", "answered"])
async def test_a_customer_hangup_ends_the_call(talk: Parties, state: str) -> None:
    """The customer's leg is the main leg, so all legs end."""
    transfer = await (start_answered(talk) if state == "answered" else start_ringing(talk))
    await talk["customer"].hang_up()
    await transfer.wait_for_state("abandoned", "customer_hangup")
    for name in ("source", "target"):
        await talk[name].wait_ended()


async def test_a_customer_hangup_ends_the_call_of_an_agent(parties: Parties) -> None:
    """The agent's leg is the main leg; agent and target are hung up."""
    await parties.connect_from_source()
    transfer = await start_answered(parties)
    await parties["customer"].hang_up()
    await transfer.wait_for_state("abandoned", "customer_hangup")
    for name in ("source", "target"):
        await parties[name].wait_ended()


async def test_a_held_customer_stays_held_after_a_failed_transfer(talk: Parties) -> None:
    """A customer on hold stays on hold after a failed transfer."""
    leg = await talk.leg("customer")
    await talk.control("hold", channelId=leg)
    await talk.expect_audio(customer="music", source="")
    transfer = await start_ringing(talk)
    await talk.expect_audio(customer="music", source="ringing")
    await transfer.cancel()
    await talk.expect_audio(customer="music", source="")
    await talk.control("unhold", channelId=leg)
    await assert_reconnected(talk)


async def test_a_completed_transfer_takes_the_customer_off_hold(talk: Parties) -> None:
    """A completed transfer takes the customer off hold."""
    await talk.control("hold", channelId=await talk.leg("customer"))
    transfer = await start_answered(talk)
    await transfer.complete()
    await talk.expect_audio(customer="target", target="customer")
