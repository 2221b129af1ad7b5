"""REFER with Replaces: a phone that talks in two calls connects its other parties, and leaves."""

from typing import Any, Literal

import pytest

from tests.harness.phones.parties import Parties
from tests.harness.until import until
from tests.live.reporting.test_endings import completed
from tests.live.sessions.test_refer import refer_results

NUMBER = "+15550100"
CONNECTED = {"customer": "target", "target": "customer"}
Order = Literal["called", "calling"]
BOTH = pytest.mark.parametrize("order", ["called", "calling"])


async def start_second_call(parties: Parties, order: Order, account: str = "acme") -> str:
    """Connect the phone's second line, `fourth`, to the target: it is called, or it calls."""
    first = parties.call
    if order == "called":
        line, target = await parties.add_phone("fourth"), await parties.add_phone("target")
        dial = {"type": "dial", "data": {"number": line.address}}
        second = await parties.lab.call(account=account, to=target.address, action=dial)
    else:
        target = await parties.add_phone("target")
        dial = {"type": "dial", "data": {"number": target.address}}
        number = await parties.lab.add_number(dial, account=account)
        await parties.add_caller("fourth", number)
        second = await wait_for_second_call(parties, first)
    await parties.expect_audio(target="fourth", fourth="target")
    return second


async def wait_for_second_call(parties: Parties, first: str) -> str:
    """Return the id of the other live call."""
    found: list[str] = []

    async def is_there() -> bool:
        calls = (await parties.lab.engine.rpc("GET", "/calls"))["calls"]
        found[:] = [call["callId"] for call in calls if call["callId"] != first]
        return len(found) == 1

    await until(is_there, what="a second call")
    return found[0]


async def connect_both(parties: Parties, order: Order) -> str:
    """Connect customer and phone, which holds, and its second line to the target."""
    await parties.connect()
    await parties["source"].hold()
    second = await start_second_call(parties, order)
    await parties.expect_audio(customer="music", target="fourth", fourth="target")
    return second


async def assert_connected(parties: Parties, second: str) -> None:
    """Assert that customer and target talk, and that both lines of the phone have ended."""
    await parties["source"].wait_ended()
    await parties["fourth"].wait_ended()
    assert refer_results(parties["source"]) == ["SIP/2.0 200 OK"]
    await parties.expect_audio(**CONNECTED)
    for call in (parties.call, second):
        [transfer] = (await parties.lab.engine.call(call))["transfers"]
        assert (transfer["transferMode"], transfer["state"]) == ("blind", "blind_transferred")


async def record_of(parties: Parties, call: str) -> dict[str, Any]:
    """Return the record of an ended call."""
    await parties.lab.wait_ended(call)
    return dict((await completed(parties.lab, callId=call))["record"])


@BOTH
async def test_the_parties_of_two_calls_are_connected(parties: Parties, order: Order) -> None:
    """The phone gets 200 and both of its lines end; a hangup of the target ends both calls."""
    second = await connect_both(parties, order)
    parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await assert_connected(parties, second)
    await parties["target"].hang_up()
    await parties["customer"].wait_ended()
    print(await record_of(parties, parties.call))
    print(await record_of(parties, second))
    assert 0
