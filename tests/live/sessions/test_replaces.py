"""REFER with Replaces: a phone that talks in two calls connects its other parties, and leaves."""

import asyncio
from functools import partial
from typing import Any, Literal

import pytest

from tests.harness.phones.parties import CUSTOMER, Parties
from tests.harness.phones.phone import Phone
from tests.harness.until import until
from tests.live.sessions.test_refer import (
    refer_notices,
    refer_results,
    refer_statuses,
    wait_accepted,
)

NUMBER = "+15550100"
MAX_SKEW_MS = 5_000  # between two calls on a busy machine
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
    notices = refer_notices(parties["source"])
    assert refer_results(parties["source"]) == ["SIP/2.0 200 OK"], notices
    await assert_transferred(parties, second)


async def assert_transferred(parties: Parties, second: str) -> None:
    """Assert that customer and target talk, and that both calls show a blind transfer."""
    await parties.expect_audio(**CONNECTED)
    for call in (parties.call, second):
        await until(partial(_is_transferred, parties, call), what=f"the transfer of {call}")


async def _is_transferred(parties: Parties, call: str) -> bool:
    [transfer] = (await parties.lab.engine.call(call))["transfers"]
    return (transfer["transferMode"], transfer["state"]) == ("blind", "blind_transferred")


async def records_of(parties: Parties, *calls: str) -> list[dict[str, Any]]:
    """Wait for the last events of calls, and return their records in this order."""
    found: dict[str, dict[str, Any]] = {}

    async def are_there() -> bool:
        path = "/events?group=replaces&consumer=test&wait=1&limit=200"
        batch = (await parties.lab.engine.rpc("GET", path))["events"]
        if batch:
            ids = [each["id"] for each in batch]
            await parties.lab.engine.rpc("POST", "/events/ack", {"group": "replaces", "ids": ids})
        ended = [each["event"] for each in batch if each["event"]["event"] == "completed"]
        found.update((each["callId"], each["record"]) for each in ended)
        return set(calls) <= found.keys()

    await until(are_there, what="the records")
    return [found[call] for call in calls]


async def test_both_are_heard_after_a_hold(parties: Parties) -> None:
    """Music passes between the calls, and does not make the packets after it late."""
    second = await connect_both(parties, "called")
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await assert_connected(parties, second)
    await parties["target"].hold()
    await parties.expect_audio_for(1_000, {"customer": "music"})
    await parties["target"].resume()
    await parties.expect_audio(**CONNECTED)


@BOTH
async def test_the_parties_of_two_calls_are_connected(parties: Parties, order: Order) -> None:
    """The phone gets 200 and both of its lines end; a hangup of the target ends both calls."""
    second = await connect_both(parties, order)
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await assert_connected(parties, second)
    await parties["target"].hang_up()
    await parties["customer"].wait_ended()
    one, other = await records_of(parties, parties.call, second)
    named = parties["target"].address  # not the number that the phone has sent
    assert [(leg["party"], leg["endedBy"]) for leg in one["legs"]][-1] == (named, "callee")
    assert (one["endedBy"], one["status"], other["status"]) == ("callee", "completed", "completed")
    # The callee of the second call is its main leg, or the one that its caller, the phone, dialled.
    assert other["endedBy"] == "callee"
    target, line, sent = sorted(other["legs"], key=_place)
    assert (sent["channelId"], sent["party"]) == (f"{one['legs'][-1]['channelId']}.other", CUSTOMER)
    assert other["endedByChannelId"] == target["channelId"]
    assert abs(sent["talkMs"] - one["legs"][-1]["talkMs"]) < MAX_SKEW_MS
    assert 0 < line["talkMs"] < target["talkMs"]
    assert not {NUMBER, named}.intersection(one["dialedNumbers"])
    assert CUSTOMER not in other["dialedNumbers"]


def _place(leg: dict[str, Any]) -> tuple[bool, bool, int]:
    """Sort the legs of the second call: the target, the phone's line, the leg sent to it."""
    is_sent = leg["channelId"].endswith(".other")
    return is_sent, not is_sent and leg["endedBy"] == "action", leg["answeredMs"]


@BOTH
@pytest.mark.parametrize("lines", [["source"], ["fourth"], ["source", "fourth"]])
async def test_a_phone_that_hangs_up_at_once(
    parties: Parties, order: Order, lines: list[str]
) -> None:
    """Its lines end before the calls are joined: their parties wait for each other."""
    second = await connect_both(parties, order)
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await wait_accepted(parties["source"])
    await asyncio.gather(*(parties[line].hang_up() for line in lines))
    await assert_transferred(parties, second)


async def test_a_hangup_of_the_customer_ends_both_calls(parties: Parties) -> None:
    """Its call was ended by the caller, the other one by the leg that its phone was called on."""
    second = await connect_both(parties, "called")
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await assert_connected(parties, second)
    await parties["customer"].hang_up()
    await parties["target"].wait_ended()
    one, other = await records_of(parties, parties.call, second)
    assert (one["endedBy"], other["endedBy"]) == ("caller", "callee")
    assert other["endedByChannelId"].endswith(".other")


@BOTH
async def test_a_call_of_another_account_refuses(parties: Parties, order: Order) -> None:
    """The phone gets 603, and keeps both calls as they are."""
    await parties.connect()
    second = await start_second_call(parties, order, account="other")
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await until(lambda: bool(refer_results(parties["source"])), what="the outcome of REFER")
    assert refer_results(parties["source"]) == ["SIP/2.0 603 Decline"]
    await parties.expect_audio(
        customer="source", source="customer", target="fourth", fourth="target"
    )
    assert (await parties.lab.engine.call(second)).get("transfers") is None
    await end(parties, second)


async def end(parties: Parties, call: str) -> None:
    """Hang up the second call."""
    await parties.lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
    await parties.lab.wait_ended(call)


@BOTH
async def test_connected_parties_survive_their_engine(parties: Parties, order: Order) -> None:
    """They talk on without it, and with the next one; then a hangup ends both calls."""
    second = await connect_both(parties, order)
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await assert_connected(parties, second)
    await parties.lab.engine.kill()
    await parties.expect_audio(**CONNECTED)
    await parties.lab.engine.start()
    await parties.expect_audio_for(1_000, CONNECTED)
    await parties["customer"].hang_up()
    await parties["target"].wait_ended()
    for call in (parties.call, second):
        await parties.lab.wait_ended(call)


@pytest.mark.parametrize("after_ms", [2, 7, 8, 16, 40, 60])
async def test_the_engine_is_killed_meanwhile(parties: Parties, after_ms: int) -> None:
    """The next engine connects the parties, or both calls stay as they were."""
    second = await connect_both(parties, "calling" if after_ms % 4 else "called")
    accepted = len(refer_statuses(parties["source"]))
    await parties["source"].refer_to_call(NUMBER, parties["fourth"])
    await until(
        lambda: len(refer_statuses(parties["source"])) > accepted, every_s=0.001, what="the 202"
    )
    await asyncio.sleep(after_ms / 1000)  # the kill hits another moment of the join each time
    await parties.lab.engine.kill()
    await parties.lab.engine.start()
    await parties.expect_audio_for(500, await expected_outcome(parties))
    await parties["customer"].hang_up()
    if not parties["target"].is_ended:
        await parties["target"].hang_up()
    for call in (parties.call, second):
        await parties.lab.wait_ended(call)


async def expected_outcome(parties: Parties) -> dict[str, str]:
    """Return what all parties hear when both calls have a final state of their transfers."""
    states: list[str] = []

    async def is_decided() -> bool:
        calls = (await parties.lab.engine.rpc("GET", "/calls"))["calls"]
        views = [await parties.lab.engine.call(call["callId"]) for call in calls]
        states[:] = [t["state"] for view in views for t in view.get("transfers") or ()]
        return len(calls) == 2 and not {"starting", "ringback"} & set(states)

    await until(is_decided, what="the outcome of both transfers")
    if states == ["blind_transferred"] * 2:
        return CONNECTED
    assert "blind_transferred" not in states
    return {"customer": "music", "target": "fourth", "fourth": "target"}


async def test_another_phone_takes_a_leg_over(parties: Parties) -> None:
    """INVITE with Replaces: the customer talks to it, and the first phone has left the call."""
    await parties.connect()
    source = parties["source"]
    headers = (f"Replaces: {source.dialog.replaces}",)
    async with Phone.calling(parties.lab.pbx, NUMBER, tone_hz=1_450, headers=headers) as taker:
        await source.wait_ended()
        await parties["customer"].until_hears(1_450)

        async def has_left() -> bool:
            legs = (await parties.view())["legs"]
            is_listed = f"{parties.call}.l1" in {leg["channelId"] for leg in legs}
            return [leg["state"] for leg in legs] == ["up", "up"] and not is_listed

        await until(has_left, what="the first phone to leave the call")
        await parties["customer"].hang_up()
        await taker.wait_ended()
        await parties.lab.wait_ended(parties.call)


async def test_a_phone_of_another_account(parties: Parties) -> None:
    """It calls no number of this account, and takes no leg of its calls over."""
    documents = parties.lab.engine.documents
    await documents.agent("other", "stranger", {"endpoint": "PJSIP/1003"})
    try:
        await parties.connect()
        number = await parties.lab.add_number({"type": "pause", "data": {"length": 60}})
        async with Phone.calling(parties.lab.pbx, number, agent="1003") as caller:
            await until(lambda: caller.status == 403, what="the rejection")
        source = parties["source"]
        headers = (f"Replaces: {source.dialog.replaces}",)
        async with Phone.calling(parties.lab.pbx, NUMBER, headers=headers, agent="1003") as taker:
            await taker.wait_ended()
            await source.wait_ended()
        await parties["customer"].wait_ended()
        await parties.lab.wait_ended(parties.call)
    finally:
        await documents.delete("other", "agent", "stranger")
