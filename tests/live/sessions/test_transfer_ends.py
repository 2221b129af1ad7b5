"""Transfers that end otherwise: nobody is left in silence, and it is told why."""

import pytest

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.parties import Crowd
from tests.harness.phones.requests import Transfer
from tests.live.sessions.test_transfers import rung


@pytest.fixture
async def talk(crowd: Crowd, hooks: WebhookServer) -> Crowd:
    """Let customer and source talk; afterwards /after is asked, which ends the call."""
    await crowd.talk(hooks.answers("/after", None))
    return crowd


async def ringing(crowd: Crowd, mode: str = "attended", **more: object) -> Transfer:
    """Let the target ring."""
    target = await crowd.phone("target", picks_up=False)
    transfer = Transfer(crowd)
    await transfer.start(mode, **more)
    await rung(target, transfer)
    return transfer


async def answered(crowd: Crowd) -> Transfer:
    """Let source and target talk."""
    transfer = await ringing(crowd)
    await crowd["target"].pick_up()
    await crowd.hear(source="target", target="source", customer="music")
    return transfer


async def together_again(crowd: Crowd) -> None:
    """See that source and customer hear each other as before."""
    await crowd.hear(customer="source", source="customer")


async def gone_on(crowd: Crowd, hooks: WebhookServer, status: str) -> None:
    """See that the tree goes on after the dial, and is told why; here it ends."""
    assert (await hooks.asked("/after")).body["dial"]["status"] == status
    await crowd["customer"].ended()


async def test_canceled_while_it_rings(talk: Crowd) -> None:
    """The target stops ringing, the two are together again."""
    transfer = await ringing(talk)
    view = await transfer.cancel()
    assert (view["state"], view["reason"], view["endedBy"]) == ("canceled", "source_cancel", "ada")
    await talk["target"].ended()
    assert talk["target"].status == 487
    await together_again(talk)


async def test_canceled_after_the_answer(talk: Crowd) -> None:
    """The target is hung up."""
    transfer = await answered(talk)
    await transfer.cancel()
    await talk["target"].ended()
    await together_again(talk)


async def test_a_blind_one_canceled(talk: Crowd, hooks: WebhookServer) -> None:
    """The source is gone: the tree goes on."""
    transfer = await ringing(talk, "blind")
    await transfer.cancel()
    await talk["target"].ended()
    await gone_on(talk, hooks, "canceled")


REFUSALS = [
    (486, "target_busy", "busy"),
    (603, "target_reject", "failed"),
    (480, "target_no_answer", "no-answer"),
    (503, "target_unavailable", "failed"),
]


@pytest.mark.parametrize(("status", "reason"), [each[:2] for each in REFUSALS])
async def test_the_target_refuses(talk: Crowd, status: int, reason: str) -> None:
    """Source and customer are together again."""
    await talk.refusing("target", status)
    transfer = Transfer(talk)
    await transfer.start()
    await transfer.becomes("failed", reason)
    await together_again(talk)


@pytest.mark.parametrize(("status", "reason", "told"), REFUSALS)
async def test_the_target_of_a_blind_one_refuses(
    talk: Crowd, hooks: WebhookServer, status: int, reason: str, told: str
) -> None:
    """The customer goes on with what follows the dial."""
    await talk.refusing("target", status)
    transfer = Transfer(talk)
    await transfer.start("blind")
    await transfer.becomes("failed", reason)
    await gone_on(talk, hooks, told)


async def test_the_target_does_not_answer(talk: Crowd) -> None:
    """After the timeout it rings no more."""
    transfer = await ringing(talk, timeout=1)
    await transfer.becomes("failed", "target_no_answer")
    await talk["target"].ended()
    await together_again(talk)


async def test_the_target_of_a_blind_one_does_not_answer(talk: Crowd, hooks: WebhookServer) -> None:
    """The tree goes on."""
    transfer = await ringing(talk, "blind", timeout=1)
    await transfer.becomes("failed", "target_no_answer")
    await gone_on(talk, hooks, "no-answer")


async def test_the_target_leaves_after_the_answer(talk: Crowd) -> None:
    """The source has the customer back."""
    transfer = await answered(talk)
    await talk["target"].hang_up()
    await transfer.becomes("failed", "target_hangup")
    await together_again(talk)


@pytest.mark.parametrize("state", ["ringing", "answered"])
async def test_the_customer_hangs_up(talk: Crowd, state: str) -> None:
    """The call was the customer's: all is over."""
    transfer = await (answered(talk) if state == "answered" else ringing(talk))
    await talk["customer"].hang_up()
    await transfer.becomes("abandoned", "customer_hangup")
    for name in ("source", "target"):
        await talk[name].ended()


async def test_the_customer_of_an_agents_call_hangs_up(crowd: Crowd) -> None:
    """The call was the agent's, who is let go with the target."""
    await crowd.talk_by_source()
    transfer = await answered(crowd)
    await crowd["customer"].hang_up()
    await transfer.becomes("abandoned", "customer_hangup")
    for name in ("source", "target"):
        await crowd[name].ended()


async def test_who_was_held_stays_held(talk: Crowd) -> None:
    """A customer who was on hold before is so after a transfer that fails."""
    leg = await talk.leg("customer")
    await talk.steer("hold", channelId=leg)
    await talk.hear(customer="music", source="")
    transfer = await ringing(talk)
    await talk.hear(customer="music", source="ringing")
    await transfer.cancel()
    await talk.hear(customer="music", source="")
    await talk.steer("unhold", channelId=leg)
    await together_again(talk)


async def test_who_was_held_is_handed_over(talk: Crowd) -> None:
    """A transfer that is completed takes the customer off hold."""
    await talk.steer("hold", channelId=await talk.leg("customer"))
    transfer = await answered(talk)
    await transfer.complete()
    await talk.hear(customer="target", target="customer")
