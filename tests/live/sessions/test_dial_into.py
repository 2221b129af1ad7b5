"""Parties dialled into a live call, and legs hung up one by one, checked by tone."""

import asyncio

from aiohttp import web
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.audio import assert_uninterrupted
from tests.harness.phones.parties import Parties

PROMPT_MS = 8_000
EDGE_MS = 60  # frames that hold two sounds


async def dial(parties: Parties, name: str, *, picks_up: bool = True) -> str:
    """Dial a party into the call; returns its channel id. A phone that has none is added."""
    if name not in parties.phones:
        await parties.add_phone(name, picks_up=picks_up)
    return str((await parties.control("dial", target=parties[name].address))["channelId"])


def prompt(sounds: MediaServer) -> dict[str, object]:
    return {"type": "play", "data": {"audioUrl": sounds.tone(1300, PROMPT_MS)}}


async def test_a_party_is_dialled_into_a_conversation(parties: Parties) -> None:
    """The two talk on while the third rings; after its answer all hear one another."""
    await parties.connect()
    leg = await dial(parties, "target", picks_up=False)
    await parties["target"].wait_ringing()
    await parties.expect_audio(customer="source", source="customer", target="")
    await parties["target"].pick_up()
    await parties.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
    assert await parties.leg("target") == leg
    await parties["target"].hang_up()
    await parties.expect_audio(customer="source", source="customer")


async def test_a_prompt_restarts_after_a_dialled_party(
    parties: Parties, sounds: MediaServer
) -> None:
    """The prompt plays until the party answers, and again from its start afterwards."""
    await parties.add_phone("target")
    caller = await parties.call_in(await parties.lab.add_number(prompt(sounds)))
    await parties.expect_audio(customer="prompt")
    await dial(parties, "target")
    await parties.expect_audio(customer="target", target="customer")
    await parties["target"].hang_up()
    await parties.expect_audio(customer="prompt")
    await caller.wait_ended()
    before, after = caller.tones_heard(1300)
    assert before.length_ms < PROMPT_MS
    assert after.length_ms == approx(PROMPT_MS, abs=EDGE_MS)


async def test_the_call_ends_with_its_prompt_while_a_party_rings(
    parties: Parties, sounds: MediaServer
) -> None:
    """The tree continues while the party rings; at its end the call ends."""
    await parties.add_phone("target", picks_up=False)
    caller = await parties.call_in(await parties.lab.add_number(prompt(sounds)))
    await dial(parties, "target")
    await caller.wait_ended()
    await parties["target"].wait_ended()
    assert_uninterrupted(caller.tones_heard(1300))
    assert caller.heard_ms(1300) == approx(PROMPT_MS, abs=EDGE_MS)


async def test_a_gather_restarts_after_a_dialled_party(
    parties: Parties, hooks: WebhookServer
) -> None:
    """The gather restarts after the conversation; earlier keys do not count."""
    data = {"maxDigits": 2, "timeout": 300_000, "digitTimeout": 300_000}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    caller = await parties.call_in(await parties.lab.add_number(gather))
    await parties.lab.wait_for_state(parties.call, "gathering")
    await caller.press("1")
    await dial(parties, "target")
    await parties.expect_audio(customer="target", target="customer")
    await caller.press("2")
    await parties["target"].hang_up()
    await parties.lab.wait_for_state(parties.call, "gathering")
    await caller.press("34")
    assert (await hooks.wait_for_request("/result")).body["dtmf"] == "34"


async def test_a_webhook_answer_runs_after_a_dialled_party(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The webhook answers during the conversation; its action runs afterwards."""
    is_talking = asyncio.Event()

    async def answer_in_conversation(_request: web.Request) -> web.Response:
        await is_talking.wait()
        return web.json_response(prompt(sounds))

    url = hooks.answers("/next", answer_in_conversation)
    await parties.add_phone("target")
    caller = await parties.call_in(await parties.lab.add_number(url))
    await hooks.wait_for_request("/next")
    await dial(parties, "target")
    heard = {"customer": "target", "target": "customer"}
    await parties.expect_audio(**heard)
    is_talking.set()
    await parties.expect_audio_for(500, heard)
    await parties["target"].hang_up()
    await parties.expect_audio(customer="prompt")
    await caller.wait_ended()
    assert len(hooks.requests_to("/next")) == 1


async def test_the_first_of_two_dialled_parties_wins(parties: Parties) -> None:
    """The first to answer is bridged, and the other is canceled."""
    source = await parties.add_phone("source", picks_up=False)
    number = await parties.lab.add_number({"type": "dial", "data": {"number": source.address}})
    await parties.call_in(number)
    await source.wait_ringing()
    await dial(parties, "target")
    await parties.expect_audio(customer="target", target="customer")
    await source.wait_ended()
    assert source.status == 487


async def test_one_channel_is_hung_up(parties: Parties) -> None:
    """After one of three is hung up the others talk on; after one of two the call ends."""
    await parties.connect()
    leg = await dial(parties, "target")
    await parties.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
    await parties.control("hangup", channelId=leg)
    await parties["target"].wait_ended()
    await parties.expect_audio(customer="source", source="customer")
    await parties.control("hangup", channelId=await parties.leg("customer"))
    for name in ("customer", "source"):
        await parties[name].wait_ended()


async def test_a_ringing_channel_is_hung_up(parties: Parties) -> None:
    """The ringing party is canceled, and the others still hear each other."""
    await parties.connect()
    leg = await dial(parties, "target", picks_up=False)
    await parties["target"].wait_ringing()
    await parties.control("hangup", channelId=leg)
    await parties["target"].wait_ended()
    await parties.expect_audio(customer="source", source="customer")


async def test_the_leg_of_an_agent_is_hung_up(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The agent is hung up, and the customer continues with the tree."""
    await parties.connect(hooks.answers("/after", prompt(sounds)))
    await parties.control("hangup", agentId="ada")
    await parties["source"].wait_ended()
    await parties.expect_audio(customer="prompt")
    assert hooks.requests_to("/after")[0].body["dial"]["status"] == "completed"


async def test_the_whole_call_is_hung_up(parties: Parties) -> None:
    """All legs are hung up."""
    await parties.connect()
    await dial(parties, "target")
    await parties.expect_audio(target="customer source")
    await parties.control("hangup")
    for name in ("customer", "source", "target"):
        await parties[name].wait_ended()
    assert (await parties.lab.wait_ended(parties.call))["endedBy"] == "api"
