"""A third-party softphone (baresip) as an agent: registration, keys, hold and REFER."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.phones.phone import Phone
from tests.harness.phones.softphone import Softphone

AGENT = "1002"


@pytest.fixture
async def softphone(parties: Parties) -> AsyncIterator[Softphone]:
    """Connect the customer to a softphone that is registered as an agent."""
    tone_hz = TONES_HZ["source"]
    async with Softphone.agent(parties.lab.pbx, AGENT, tone_hz=tone_hz) as softphone:
        dial = {"type": "dial", "data": {"agent_id": AGENT}}
        await parties.call_in(await parties.lab.add_number(dial))
        await parties.expect_audio(customer="source")
        yield softphone


async def test_hold_and_resume(parties: Parties, softphone: Softphone) -> None:
    """The customer hears music while the softphone holds, and then the agent again."""
    softphone.command("hold")
    await parties.expect_audio_for(1_000, {"customer": "music"})
    held = [each["party"] for each in (await parties.view())["legs"] if each.get("heldByPhone")]
    assert held == [f"agent:{AGENT}"]
    softphone.command("resume")
    await parties.expect_audio(customer="source")


async def test_a_refer_is_a_blind_transfer(parties: Parties, softphone: Softphone) -> None:
    """The target answers, the softphone leaves, and the customer talks with the target."""
    await parties.add_phone("target", port=parties.lab.trunk_port)
    softphone.transfer("+15550100")
    await softphone.wait_for("CALL_CLOSED")
    await parties.expect_audio(customer="target", target="customer")


async def test_keys_reach_a_gather(lab: Lab, hooks: WebhookServer) -> None:
    """Each key arrives once, in order, and the terminator ends the gather."""
    data = {"maxDigits": 9, "timeout": 300_000, "digitTimeout": 300_000}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/keys", None)}
    async with Softphone.agent(lab.pbx, AGENT, tone_hz=700) as softphone:
        call = await lab.call(to=f"agent:{AGENT}", action=gather)
        await softphone.wait_for("CALL_ESTABLISHED")
        await lab.wait_for_state(call, "gathering")
        softphone.press("1402*#")
        body = (await hooks.wait_for_request("/keys")).body
        assert (body["dtmf"], body["reason"]) == ("1402*", "terminator")
        await lab.wait_ended(call)


async def test_a_phone_over_tcp(lab: Lab) -> None:
    """It registers over TCP, is called over that connection, and both sides hear each other."""
    number = await lab.add_number({"type": "dial", "data": {"agent_id": AGENT}})
    async with Softphone.agent(lab.pbx, AGENT, tone_hz=700, transport="tcp") as softphone:
        contacts = await lab.pbx.cli("database show registrar")
        assert ";transport=tcp" in contacts.lower()
        async with Phone.calling(lab.pbx, number, tone_hz=900) as caller:
            await caller.until_hears(700)
            await caller.hang_up()
        await softphone.wait_for("CALL_CLOSED")
