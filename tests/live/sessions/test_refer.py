"""REFER by a phone to a number: a blind transfer."""

from itertools import groupby

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.audio import assert_uninterrupted
from tests.harness.phones.parties import Parties
from tests.harness.phones.phone import Phone
from tests.harness.phones.sip import SipMessage
from tests.harness.ports import free_port
from tests.harness.until import until

NUMBER = "<sip:+15550100@127.0.0.1>"


@pytest.fixture
async def talk(parties: Parties, hooks: WebhookServer) -> Parties:
    """Connect customer and source; the next action is /after, which ends the call."""
    await parties.connect(hooks.answers("/after", None))
    return parties


def refer_results(phone: Phone) -> list[str]:
    """Return the SIP status lines that a phone received about its REFER, without repetitions.

    Asterisk may notify the phone of the same status again when the phone's dialog ends.
    """
    texts = (m.text for m in refer_notices(phone))
    lines = (line.strip() for text in texts for line in text.splitlines() if _is_status(line))
    return [line for line, _ in groupby(lines)]


def refer_notices(phone: Phone) -> list[SipMessage]:
    """Return the NOTIFY requests that a phone received about its REFER.

    Asterisk may still repeat one to a phone of an earlier test that had the same port.
    """
    dialogs = {m.header("Call-ID") for m in phone.messages if m.method == "REFER"}
    notices = (m for m in phone.messages if m.method == "NOTIFY" and not m.status)
    return [m for m in notices if m.header("Call-ID") in dialogs]


def refer_statuses(phone: Phone) -> list[int]:
    """Return the response codes of a phone's REFER."""
    return [m.status for m in phone.messages if m.method == "REFER" and m.status]


async def wait_accepted(phone: Phone) -> None:
    """Wait until a phone's REFER has its response, 202."""
    await until(lambda: refer_statuses(phone) == [202], every_s=0.001, what="202")


def _is_status(line: str) -> bool:
    return line.startswith("SIP/2.0 ") and not line.startswith("SIP/2.0 100")


async def test_a_refer_to_a_number_is_a_blind_transfer(talk: Parties) -> None:
    """The phone gets 200 when the target answers; the customer hears music, then the target."""
    target = await talk.add_phone("target", picks_up=False, port=talk.lab.trunk_port)
    await talk["source"].refer(NUMBER)
    await target.wait_ringing()
    await talk.expect_audio(customer="music", source="ringing")
    assert refer_results(talk["source"]) == []
    await target.pick_up()
    await talk["source"].wait_ended()
    assert refer_results(talk["source"]) == ["SIP/2.0 200 OK"]
    await talk.expect_audio(customer="target", target="customer")
    [transfer] = (await talk.view())["transfers"]
    assert (transfer["transferMode"], transfer["state"]) == ("blind", "blind_transferred")
    assert (transfer["target"], transfer["sourceAgentId"]) == ("+15550100", "ada")


async def test_a_second_refer_changes_nothing(talk: Parties) -> None:
    """Someone presses transfer twice: the phone gets one outcome, that of the transfer."""
    target = await talk.add_phone("target", picks_up=False, port=talk.lab.trunk_port)
    await talk["source"].refer(NUMBER)
    await target.wait_ringing()
    await talk["source"].refer(NUMBER)
    await until(lambda: refer_statuses(talk["source"]) == [202, 202], what="a second 202")
    await target.pick_up()
    await talk["source"].wait_ended()
    assert refer_results(talk["source"]) == ["SIP/2.0 200 OK"]
    await talk.expect_audio(customer="target", target="customer")
    assert len((await talk.view())["transfers"]) == 1


async def test_the_first_called_party_can_refer(parties: Parties) -> None:
    """The leg that ran the tree leaves; the call continues without it."""
    await parties.connect_from_source()
    await parties.add_phone("target", port=parties.lab.trunk_port)
    await parties["source"].refer(NUMBER)
    await parties["source"].wait_ended()
    assert refer_results(parties["source"]) == ["SIP/2.0 200 OK"]
    await parties.expect_audio(customer="target", target="customer")


async def test_a_refer_during_a_prompt_is_declined(parties: Parties, sounds: MediaServer) -> None:
    """Without a connected party REFER is declined, and the prompt continues."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, 4_000)}}
    source = await parties.add_phone("source")
    parties.call = await parties.lab.call(to=source.address, action=prompt)
    await parties.expect_audio(source="prompt")
    await source.refer(NUMBER)
    await until(lambda: bool(refer_results(source)), what="the answer to REFER")
    assert refer_results(source) == ["SIP/2.0 603 Decline"]
    await source.wait_ended()
    assert_uninterrupted(source.tones_heard(1300))


@pytest.mark.parametrize(("status", "result"), [(486, 503), (404, 503), (603, 603)])
async def test_a_refer_that_fails_reconnects(talk: Parties, status: int, result: int) -> None:
    """Busy, unassigned or declined: the phone gets the failure, and both parties stay connected."""
    await talk.add_refusing("target", status, port=talk.lab.trunk_port)
    await talk["source"].refer(NUMBER)
    await until(lambda: bool(refer_results(talk["source"])), what="the outcome of REFER")
    assert refer_results(talk["source"])[0].startswith(f"SIP/2.0 {result} ")
    await talk.expect_audio(customer="source", source="customer")


@pytest.mark.parametrize("extension", ["1009", "source"])
async def test_a_refer_to_an_unreachable_agent_is_declined(
    parties: Parties, extension: str
) -> None:
    """An offline agent, or the phone itself: 603 at once, and both parties stay connected."""
    await parties.add_agent("source", "1001")
    dial = {"type": "dial", "data": {"agent_id": "1001"}}
    await parties.call_in(await parties.lab.add_number(dial))
    await parties.expect_audio(customer="source", source="customer")
    number = "1001" if extension == "source" else extension
    await parties["source"].refer(NUMBER.replace("+15550100", number))
    await until(lambda: bool(refer_results(parties["source"])), what="the outcome of REFER")
    assert refer_results(parties["source"]) == ["SIP/2.0 603 Decline"]
    await parties.expect_audio(customer="source", source="customer")
    assert (await parties.view()).get("transfers") is None


async def test_a_phone_that_hangs_up_after_its_refer(talk: Parties, hooks: WebhookServer) -> None:
    """The customer waits; if the target does not answer, the tree continues after the dial."""
    target = await talk.add_phone("target", picks_up=False, port=talk.lab.trunk_port)
    await talk["source"].refer(NUMBER)
    await target.wait_ringing()
    await talk["source"].hang_up()
    await talk.expect_audio(customer="music")
    await target.hang_up()
    assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == "failed"
    await talk["customer"].wait_ended()


async def test_a_phone_that_hangs_up_at_once_after_its_refer(talk: Parties) -> None:
    """As many phones do, without waiting for a NOTIFY: the target is called nevertheless."""
    target = await talk.add_phone("target", picks_up=False, port=talk.lab.trunk_port)
    await talk["source"].refer(NUMBER)
    await wait_accepted(talk["source"])
    await talk["source"].hang_up()
    await target.wait_ringing()
    await talk.expect_audio(customer="music")
    await target.pick_up()
    await talk.expect_audio(customer="target", target="customer")
    [transfer] = (await talk.view())["transfers"]
    assert (transfer["state"], transfer["target"]) == ("blind_transferred", "+15550100")


async def test_a_refer_to_an_unknown_call_is_declined(talk: Parties) -> None:
    """REFER gets 603, and the two talk on."""
    replaced = "?Replaces=abc%40127.0.0.1%3Bto-tag%3D1%3Bfrom-tag%3D2"
    await talk["source"].refer(NUMBER.replace(">", f"{replaced}>"))
    await until(lambda: bool(refer_results(talk["source"])), what="the answer to REFER")
    assert refer_results(talk["source"]) == ["SIP/2.0 603 Decline"]
    await talk.expect_audio(customer="source", source="customer")


async def test_a_refer_from_the_trunk_is_declined(two: TwoNodes) -> None:
    """In the standard configuration Asterisk declines REFER from the trunk."""
    async with Phone.answering(free_port(), tone_hz=400) as phone:
        call = await two.call(to=phone.address)
        await two.wait_answered(call)
        await phone.refer(NUMBER)
        await until(lambda: 603 in refer_statuses(phone), what="the answer to REFER")
        view = await two.engine.call(call)
        assert (view["state"], view.get("transfers")) == ("gathering", None)


async def test_a_refer_in_a_conference_is_declined(talk: Parties) -> None:
    """REFER is declined, and all members talk on."""
    target = await talk.add_phone("target")
    await talk.control("dial", target=target.address)
    await talk.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
    await talk["source"].refer(NUMBER)
    await until(lambda: bool(refer_results(talk["source"])), what="the answer to REFER")
    assert refer_results(talk["source"]) == ["SIP/2.0 603 Decline"]
    await talk.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
