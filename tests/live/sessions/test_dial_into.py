"""A party dialled into a live call, and legs hung up one by one; by tone, who hears whom."""

from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.parties import Parties

PROMPT_MS = 3000


async def dial(crowd: Parties, name: str, *, picks_up: bool = True) -> str:
    """Call a party in; returns its channel."""
    phone = await crowd.phone(name, picks_up=picks_up)
    return str((await crowd.steer("dial", target=phone.address))["channelId"])


def prompt(sounds: MediaServer) -> dict[str, object]:
    """Make a prompt."""
    return {"type": "play", "data": {"audioUrl": sounds.tone(1300, PROMPT_MS)}}


async def test_into_a_conversation(crowd: Parties) -> None:
    """The two talk on while it rings; when it has answered, all hear one another."""
    await crowd.talk()
    leg = await dial(crowd, "target", picks_up=False)
    await crowd["target"].rung()
    await crowd.hear(customer="source", source="customer", target="")
    await crowd["target"].pick_up()
    await crowd.hear(customer="source target", source="customer target", target="customer source")
    assert await crowd.leg("target") == leg
    await crowd["target"].hang_up()
    await crowd.hear(customer="source", source="customer")


async def test_into_a_prompt(crowd: Parties, sounds: MediaServer) -> None:
    """It is heard until the party answers, and once more from its beginning after the talk."""
    caller = await crowd.caller(await crowd.lab.number(prompt(sounds)))
    await crowd.hear(customer="prompt")
    await dial(crowd, "target")
    await crowd.hear(customer="target", target="customer")
    await crowd["target"].hang_up()
    await crowd.hear(customer="prompt")
    await caller.ended()
    before, after = caller.heard(1300)
    assert before.length_ms < PROMPT_MS
    assert after.length_ms == approx(PROMPT_MS, abs=60)


async def test_into_a_prompt_that_ends(crowd: Parties, sounds: MediaServer) -> None:
    """While the party rings the tree goes on; it is over, and so is the call."""
    caller = await crowd.caller(await crowd.lab.number(prompt(sounds)))
    await dial(crowd, "target", picks_up=False)
    await caller.ended()
    await crowd["target"].ended()
    assert [each.length_ms for each in caller.heard(1300)] == [approx(PROMPT_MS, abs=60)]


async def test_into_a_gather(crowd: Parties, hooks: WebhookServer) -> None:
    """It begins anew after the talk: what was pressed before and during it does not count."""
    data = {"maxDigits": 2, "timeout": 5000, "digitTimeout": 5000}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/told", None)}
    caller = await crowd.caller(await crowd.lab.number(gather))
    await crowd.lab.doing(crowd.call, "gathering")
    await caller.press("1")
    await dial(crowd, "target")
    await crowd.hear(customer="target", target="customer")
    await caller.press("2")
    await crowd["target"].hang_up()
    await crowd.lab.doing(crowd.call, "gathering")
    await caller.press("34")
    assert (await hooks.asked("/told")).body["dtmf"] == "34"


async def test_into_a_question(crowd: Parties, hooks: WebhookServer, sounds: MediaServer) -> None:
    """The webhook answers during the talk: what it said runs afterwards."""
    url = hooks.answers("/next", prompt(sounds), after_ms=1500)
    caller = await crowd.caller(await crowd.lab.number(url))
    await hooks.asked("/next")
    await dial(crowd, "target")
    await crowd.hear_for(2000, {"customer": "target", "target": "customer"})
    await crowd["target"].hang_up()
    await crowd.hear(customer="prompt")
    await caller.ended()
    assert len(hooks.of("/next")) == 1


async def test_into_a_dial(crowd: Parties) -> None:
    """The first to answer wins, and the other rings no more."""
    source = await crowd.phone("source", picks_up=False)
    number = await crowd.lab.number({"type": "dial", "data": {"number": source.address}})
    await crowd.caller(number)
    await source.rung()
    await dial(crowd, "target")
    await crowd.hear(customer="target", target="customer")
    await source.ended()
    assert source.status == 487


async def test_hang_up_one_channel(crowd: Parties) -> None:
    """One of three goes, the others talk on; then one of two, and what follows the dial runs."""
    await crowd.talk()
    leg = await dial(crowd, "target")
    await crowd.hear(customer="source target", source="customer target", target="customer source")
    await crowd.steer("hangup", channelId=leg)
    await crowd["target"].ended()
    await crowd.hear(customer="source", source="customer")
    await crowd.steer("hangup", channelId=await crowd.leg("customer"))
    for name in ("customer", "source"):
        await crowd[name].ended()


async def test_hang_up_one_that_rings(crowd: Parties) -> None:
    """It rings no more, and the others notice nothing."""
    await crowd.talk()
    leg = await dial(crowd, "target", picks_up=False)
    await crowd["target"].rung()
    await crowd.steer("hangup", channelId=leg)
    await crowd["target"].ended()
    await crowd.hear(customer="source", source="customer")


async def test_hang_up_an_agents_own_leg(
    crowd: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The agent is let go, the customer hears what follows."""
    await crowd.talk(hooks.answers("/after", prompt(sounds)))
    await crowd.steer("hangup", agentId="ada")
    await crowd["source"].ended()
    await crowd.hear(customer="prompt")
    assert hooks.of("/after")[0].body["dial"]["status"] == "completed"


async def test_hang_up_the_call(crowd: Parties) -> None:
    """All are let go; it can be asked for once."""
    await crowd.talk()
    await dial(crowd, "target")
    await crowd.hear(target="customer source")
    await crowd.steer("hangup")
    for name in ("customer", "source", "target"):
        await crowd[name].ended()
    assert (await crowd.lab.ended(crowd.call))["endedBy"] == "api"
