"""dial to a list: agents and addresses ring together, and the losers show no missed call."""

from tests.harness.phones.parties import Parties
from tests.harness.phones.phone import Phone
from tests.harness.until import until


def cancel_reason(phone: Phone) -> str:
    """Return the Reason of the CANCEL that a phone received."""
    return next((m.header("Reason") for m in phone.messages if m.first_line[:6] == "CANCEL"), "")


async def test_the_other_phones_learn_that_the_call_was_answered(parties: Parties) -> None:
    """An agent and an address ring; the one that is not answered shows no missed call."""
    agent = await parties.add_agent("target", "1001", picks_up=False)
    other = await parties.add_phone("fourth", picks_up=False)
    dial = {"type": "dial", "data": {"number": [other.address, "agent:1001"]}}
    await parties.call_in(await parties.lab.add_number(dial))
    await other.wait_ringing()
    await agent.pick_up()
    await parties.expect_audio(customer="target", target="customer")
    assert agent.status == 200
    await until(lambda: bool(cancel_reason(other)), what="CANCEL with a reason")
    assert cancel_reason(other).startswith("SIP;cause=200")
    legs = (await parties.view())["legs"]
    assert next(each["agent_id"] for each in legs if each["party"] == "agent:1001") == "1001"
