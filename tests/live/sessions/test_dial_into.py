"""A party dialled into a live call, and legs hung up one by one; by tone, who hears whom."""

from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.parties import Parties

PROMPT_MS = 3000


async def dial(crowd: Parties, name: str, *, picks_up: bool = True) -> str:
    """Call a party in; returns its channel."""
    phone = await crowd.add_phone(name, picks_up=picks_up)
    return str((await crowd.control("dial", target=phone.address))["channelId"])


def prompt(sounds: MediaServer) -> dict[str, object]:
    """Make a prompt."""
    return {"type": "play", "data": {"audioUrl": sounds.tone(1300, PROMPT_MS)}}


async def test_into_a_conversation(crowd: Parties) -> None:
    """The two talk on while it rings; when it has answered, all hear one another."""
    await crowd.connect()
    leg = await dial(crowd, "target", picks_up=False)
    await crowd["target"].wait_ringing()
    await crowd.expect_audio(customer="source", source="customer", target="")
    await crowd["target"].pick_up()
    await crowd.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
    assert await crowd.leg("target") == leg
    await crowd["target"].hang_up()
    await crowd.expect_audio(customer="source", source="customer")


async def test_into_a_prompt(crowd: Parties, sounds: MediaServer) -> None:
    """It is heard until the party answers, and once more from its beginning after the talk."""
    caller = await crowd.call_in(await crowd.lab.add_number(prompt(sounds)))
    await crowd.expect_audio(customer="prompt")
    await dial(crowd, "target")
    await crowd.expect_audio(customer="target", target="customer")
    await crowd["target"].hang_up()
    await crowd.expect_audio(customer="prompt")
    await caller.wait_ended()
    before, after = caller.tones_heard(1300)
    assert before.length_ms < PROMPT_MS
    assert after.length_ms == approx(PROMPT_MS, abs=60)


async def test_into_a_prompt_that_ends(crowd: Parties, sounds: MediaServer) -> None:
    """While the party rings the tree goes on; it is over, and so is the call."""
    caller = await crowd.call_in(await crowd.lab.add_number(prompt(sounds)))
    await dial(crowd, "target", picks_up=False)
    await caller.wait_ended()
    await crowd["target"].wait_ended()
    assert [each.length_ms for each in caller.tones_heard(1300)] == [approx(PROMPT_MS, abs=60)]


async def test_into_a_gather(crowd: Parties, hooks: WebhookServer) -> None:
    """It begins anew after the talk: what was pressed before and during it does not count."""
    data = {"maxDigits": 2, "timeout": 5000, "digitTimeout": 5000}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/told", None)}
    caller = await crowd.call_in(await crowd.lab.add_number(gather))
    await crowd.lab.wait_for_state(crowd.call, "gathering")
    await caller.press("1")
    await dial(crowd, "target")
    await crowd.expect_audio(customer="target", target="customer")
    await caller.press("2")
    await crowd["target"].hang_up()
    await crowd.lab.wait_for_state(crowd.call, "gathering")
    await caller.press("34")
    assert (await hooks.wait_for_request("/told")).body["dtmf"] == "34"


async def test_into_a_question(crowd: Parties, hooks: WebhookServer, sounds: MediaServer) -> None:
    """The webhook answers during the talk: what it said runs afterwards."""
    url = hooks.answers("/next", prompt(sounds), after_ms=1500)
    caller = await crowd.call_in(await crowd.lab.add_number(url))
    await hooks.wait_for_request("/next")
    await dial(crowd, "target")
    await crowd.expect_audio_for(2000, {"customer": "target", "target": "customer"})
    await crowd["target"].hang_up()
    await crowd.expect_audio(customer="prompt")
    await caller.wait_ended()
    assert len(hooks.requests_to("/next")) == 1


async def test_into_a_dial(crowd: Parties) -> None:
    """The first to answer wins, and the other rings no more."""
    source = await crowd.add_phone("source", picks_up=False)
    number = await crowd.lab.add_number({"type": "dial", "data": {"number": source.address}})
    await crowd.call_in(number)
    await source.wait_ringing()
    await dial(crowd, "target")
    await crowd.expect_audio(customer="target", target="customer")
    await source.wait_ended()
    assert source.status == 487


async def test_hang_up_one_channel(crowd: Parties) -> None:
    """One of three goes, the others talk on; then one of two, and what follows the dial runs."""
    await crowd.connect()
    leg = await dial(crowd, "target")
    await crowd.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
    await crowd.control("hangup", channelId=leg)
    await crowd["target"].wait_ended()
    await crowd.expect_audio(customer="source", source="customer")
    await crowd.control("hangup", channelId=await crowd.leg("customer"))
    for name in ("customer", "source"):
        await crowd[name].wait_ended()


async def test_hang_up_one_that_rings(crowd: Parties) -> None:
    """It rings no more, and the others notice nothing."""
    await crowd.connect()
    leg = await dial(crowd, "target", picks_up=False)
    await crowd["target"].wait_ringing()
    await crowd.control("hangup", channelId=leg)
    await crowd["target"].wait_ended()
    await crowd.expect_audio(customer="source", source="customer")


async def test_hang_up_an_agents_own_leg(
    crowd: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The agent is let go, the customer hears what follows."""
    await crowd.connect(hooks.answers("/after", prompt(sounds)))
    await crowd.control("hangup", agentId="ada")
    await crowd["source"].wait_ended()
    await crowd.expect_audio(customer="prompt")
    assert hooks.requests_to("/after")[0].body["dial"]["status"] == "completed"


async def test_hang_up_the_call(crowd: Parties) -> None:
    """All are let go; it can be asked for once."""
    await crowd.connect()
    await dial(crowd, "target")
    await crowd.expect_audio(target="customer source")
    await crowd.control("hangup")
    for name in ("customer", "source", "target"):
        await crowd[name].wait_ended()
    assert (await crowd.lab.wait_ended(crowd.call))["endedBy"] == "api"
